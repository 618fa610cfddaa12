import { setTimeout } from "node:timers/promises";
import { type LambdaEnvironment, requireSetting } from "../settings.ts";
import type { Aws, AwsService } from "./requests.ts";
import { createAwsTransport } from "./transport.ts";

const SERVICES: readonly AwsService[] = ["dynamodb", "lambda", "s3", "sqs"];

/** AWS for a Lambda: the credentials of its role are in the environment and valid for its lifetime. */
export const createLambdaAws = (environment: LambdaEnvironment): Aws => {
  const { AWS_SESSION_TOKEN: sessionToken, AWS_CREDENTIAL_EXPIRATION: expiration } = environment;
  return {
    region: requireSetting(environment, "AWS_REGION"),
    credentials: {
      accessKeyId: requireSetting(environment, "AWS_ACCESS_KEY_ID"),
      secretAccessKey: requireSetting(environment, "AWS_SECRET_ACCESS_KEY"),
      ...(sessionToken && { sessionToken }),
      ...(expiration && { expiration: new Date(expiration) }),
    },
    endpoints: Object.fromEntries(
      SERVICES.flatMap((service) => {
        const url = environment[`AWS_ENDPOINT_URL_${service.toUpperCase()}`];
        return url ? [[service, url]] : [];
      }),
    ),
    transport: createAwsTransport(),
    now: () => new Date(),
    random: Math.random,
    sleep: (ms) => setTimeout(ms),
  };
};
