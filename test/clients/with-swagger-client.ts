import SwaggerClient from "swagger-client";
import type { Doing } from "./scenario.ts";

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
