import { endpoints } from "@mailproof/api/endpoints";
import { createEvent } from "../things/activity.ts";
import { createProcessRequest, formatCsv, givenUpload } from "../things/jobs.ts";
import { createReportBody, getMode, type TestContext } from "./used-account.ts";

/** A body that each route takes. A route without one here takes none: endpoints.ts is asked, below. */
export const BODIES: Readonly<Record<string, (ctx: TestContext, key: string) => Promise<object>>> =
  {
    "POST /v1/verify": async () => ({ email: "ann@secret.example" }),
    "POST /v1/verify/batch": async () => ({ emails: ["ann@secret.example", "bo@secret.example"] }),
    "POST /v1/verify/file": async (ctx, key) =>
      createProcessRequest(await givenUpload(ctx, key, formatCsv(["ann@secret.example"]))),
    "POST /v1/find": async () => ({
      first_name: "Ann",
      last_name: "Lee",
      domain: "secret.example",
    }),
    "POST /v1/activity/batch": async () => ({ emails: ["ann@secret.example"] }),
    "POST /v1/activity/events": async () => ({
      events: [createEvent("open", 1, { email: "ann@secret.example" })],
    }),
    "POST /v1/deliverability/check": async () => ({ domain: "secret.example" }),
    "POST /v1/deliverability/monitors": async () => ({ domain: "secret.example" }),
    "POST /v1/deliverability/reports": async () => createReportBody("secret"),
    "POST /v1/webhooks": async () => ({ url: "https://h.example/x", events: ["job.completed"] }),
    "PUT /v1/webhooks/{id}": async () => ({ url: "https://h.example/y" }),
    "POST /v1/api-keys": async (_ctx, key) => ({ name: "CI", mode: getMode(key) }),
  };

export const routesWithBody = endpoints.filter(({ body }) => body).map(({ route }) => route);
