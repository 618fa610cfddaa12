import { setTimeout } from "node:timers/promises";
import { type Environment, required } from "../settings.ts";
import type { Aws, Service } from "./aws.ts";
import { transport } from "./transport.ts";

const SERVICES: readonly Service[] = ["dynamodb", "lambda", "s3", "sqs"];

/** AWS as a Lambda sees it: its role's credentials are in the environment from the start, for as long as it lives. */
export const awsOfLambda = (environment: Environment): Aws => {
  const { AWS_SESSION_TOKEN: sessionToken } = environment;
  return {
    region: required(environment, "AWS_REGION"),
    credentials: {
      accessKeyId: required(environment, "AWS_ACCESS_KEY_ID"),
      secretAccessKey: required(environment, "AWS_SECRET_ACCESS_KEY"),
      ...(sessionToken && { sessionToken }),
    },
    endpoints: Object.fromEntries(
      SERVICES.flatMap((service) => {
        const url = environment[`AWS_ENDPOINT_URL_${service.toUpperCase()}`];
        return url ? [[service, url]] : [];
      }),
    ),
    transport: transport(),
    now: () => new Date(),
    random: Math.random,
    sleep: (ms) => setTimeout(ms),
  };
};
