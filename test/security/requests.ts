import { programEndpoints } from "@mailproof/api/endpoints";
import { EXAMPLES } from "@mailproof/api/openapi/examples";
import { createProcessRequest, formatCsv, givenUpload } from "../things/jobs.ts";
import type { TestContext } from "./used-account.ts";

/** A body that a route takes, as its last example in the document, with a file of the caller's own and no callback. */
export const createBody = async (
  route: string,
  ctx: TestContext,
  key: string,
): Promise<object | undefined> => {
  if (route === "POST /v1/verify/file")
    return createProcessRequest(await givenUpload(ctx, key, formatCsv(["ann@secret.example"])));
  const example = EXAMPLES.findLast((one) => one.route === route && one.status < 400);
  return example?.request as object | undefined;
};

export const routesWithBody = programEndpoints.filter(({ body }) => body).map(({ route }) => route);
