import { client } from "./generated/hey-api/client.gen.ts";
import * as sdk from "./generated/hey-api/sdk.gen.ts";
import type { VerifiedEmail } from "./generated/hey-api/types.gen.ts";
import type { Doing } from "./scenario.ts";

export const withHeyApi = (baseUrl: string, key: string): Doing => {
  client.setConfig({ baseUrl, auth: (scheme) => (scheme.name === "X-Api-Key" ? key : undefined) });
  const unwrap = async <T>(call: Promise<{ data?: T; error?: unknown }>): Promise<T> => {
    const { data, error } = await call;
    if (data === undefined) throw new Error(JSON.stringify(error));
    return data;
  };
  return {
    verify: async (email, idempotencyKey) => {
      const { data } = await unwrap(
        sdk.verifyEmail({ body: { email }, headers: { "Idempotency-Key": idempotencyKey } }),
      );
      // The types know that it is one of the two.
      return { data: data.status === "pending" ? data : (data satisfies VerifiedEmail) };
    },
    batch: (emails) => unwrap(sdk.verifyBatch({ body: { emails } })),
    job: (id, query) => unwrap(sdk.getJob({ path: { id }, query })),
    jobs: (query) => unwrap(sdk.listJobs({ query })),
    download: (id) => unwrap(sdk.downloadJob({ path: { id }, query: { format: "json" } })),
    createWebhook: (url) => unwrap(sdk.createWebhook({ body: { url, events: ["job.completed"] } })),
    deleteWebhook: (id) => unwrap(sdk.deleteWebhook({ path: { id } })),
    check: (domain) => unwrap(sdk.checkDomain({ body: { domain } })),
    find: (first_name, last_name, domain) =>
      unwrap(sdk.findEmail({ body: { first_name, last_name, domain } })),
  };
};
