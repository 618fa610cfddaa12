import { answerCompat } from "@mailproof/api/compat/answer";
import type { AppWorld } from "@mailproof/core/app-world";
import { toResult } from "./buffer-response.ts";
import { createHttpChain } from "./http-chain.ts";
import { toRequest } from "./lambda.ts";

/** The Lambda of the routes for other verifiers' clients. It receives every method and refuses those that the vendor lacks. */
export const createCompatLambda = (world: AppWorld) =>
  createHttpChain(world, "unknown").handler(async (event, context) => {
    const { rawPath, rawQueryString: search } = event;
    // The query is read from its text, so that a plus sign and a refusal are the same on one machine.
    const unread = { ...event, rawQueryString: "", queryStringParameters: {} };
    const { bytes, ...request } = toRequest(unread, context);
    const { method } = event.requestContext.http;
    const call = { ...request, method, rawPath, search, bytes: () => bytes("gathered") };
    return toResult(await answerCompat(world, call));
  });
