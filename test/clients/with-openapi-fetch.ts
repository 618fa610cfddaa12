import createClient from "openapi-fetch";
import type { paths } from "./generated/openapi-typescript.d.ts";
import type { Doing } from "./scenario.ts";

export const withOpenapiFetch = (baseUrl: string, key: string): Doing => {
  const client = createClient<paths>({ baseUrl, headers: { "X-Api-Key": key } });
  const unwrap = async <T>(call: Promise<{ data?: T; error?: unknown }>): Promise<T> => {
    const { data, error } = await call;
    if (data === undefined) throw new Error(JSON.stringify(error));
    return data;
  };
  return {
    verify: (email, idempotencyKey) =>
      unwrap(
        client.POST("/v1/verify", {
          params: { header: { "Idempotency-Key": idempotencyKey } },
          body: { email, options: { include_evidence: true } },
        }),
      ),
    batch: (emails) => unwrap(client.POST("/v1/verify/batch", { body: { emails } })),
    job: (id, query) => unwrap(client.GET("/v1/jobs/{id}", { params: { path: { id }, query } })),
    jobs: (query) => unwrap(client.GET("/v1/jobs", { params: { query } })),
    download: (id) =>
      unwrap(
        client.GET("/v1/jobs/{id}/download", {
          params: { path: { id }, query: { format: "json" } },
        }),
      ),
    createWebhook: (url) =>
      unwrap(client.POST("/v1/webhooks", { body: { url, events: ["job.completed"] } })),
    deleteWebhook: (id) => unwrap(client.DELETE("/v1/webhooks/{id}", { params: { path: { id } } })),
    check: (domain) => unwrap(client.POST("/v1/deliverability/check", { body: { domain } })),
    find: (first_name, last_name, domain) =>
      unwrap(client.POST("/v1/find", { body: { first_name, last_name, domain } })),
  };
};
