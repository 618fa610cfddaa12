import { beforeAll, expect, test } from "vitest";
import { lambdas } from "../../infra/topology.ts";
import { type Synthesis, synthesise } from "./synthesise.ts";

let it: Synthesis;
beforeAll(async () => {
  it = await synthesise(
    "production",
    lambdas.map((l) => l.handler),
  );
});
test("x", () => {
  const counts: Record<string, number> = {};
  for (const { type } of it.made) counts[type] = (counts[type] ?? 0) + 1;
  console.log(counts);
  console.log(
    JSON.stringify(
      it.made.filter((m) => /CronV2|Queue|dynamo|s3|scheduler/.test(m.type)),
      null,
      1,
    ).slice(0, 12000),
  );
});
