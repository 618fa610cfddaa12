import createClient from "openapi-fetch";
import SwaggerClient from "swagger-client";
import { client } from "./generated/hey-api/client.gen.ts";
import * as sdk from "./generated/hey-api/sdk.gen.ts";
import type { VerifiedEmail } from "./generated/hey-api/types.gen.ts";
import type { paths } from "./generated/openapi-typescript.d.ts";
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

export const withSwaggerClient = async (baseUrl: string, key: string): Promise<Doing> => {
  const client = await SwaggerClient({
    url: `${baseUrl}/openapi.json`,
    authorizations: { ApiKey: { value: key } },
  });
  const done = async (operationId: string, parameters: object, requestBody?: object) => {
    const answer = await client.execute({
      operationId,
      parameters,
      ...(requestBody && { requestBody }),
    });
    return answer.body;
  };
  return {
    verify: (email, idempotencyKey) =>
      done("verifyEmail", { "Idempotency-Key": idempotencyKey }, { email }),
    batch: (emails) => done("verifyBatch", {}, { emails }),
    job: (id, query) => done("getJob", { id, ...query }),
    jobs: (query) => done("listJobs", query),
    download: (id) => done("downloadJob", { id, format: "json" }),
    createWebhook: (url) => done("createWebhook", {}, { url, events: ["job.completed"] }),
    deleteWebhook: (id) => done("deleteWebhook", { id }),
    check: (domain) => done("checkDomain", {}, { domain }),
    find: (first_name, last_name, domain) =>
      done("findEmail", {}, { first_name, last_name, domain }),
  };
};
