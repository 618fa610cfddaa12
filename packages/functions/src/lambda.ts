import { formTooLarge, LAMBDA_BYTES_MAX } from "@mailproof/api/http/body";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { assertFewParameters } from "@mailproof/api/http/query";
import { type HttpRequest, moneyAfterBug, respond } from "@mailproof/api/http/respond";
import type { AppWorld } from "@mailproof/core/app-world";
import type { APIGatewayProxyEventV2, Context } from "aws-lambda";
import { bufferResponse, toHeadResult } from "./buffer-response.ts";
import { getClientIp } from "./front.ts";
import { createHttpChain, identify } from "./http-chain.ts";
import { createLambdaWorld } from "./lambda-world.ts";
import { readBody } from "./read-body.ts";
import { singleChunk } from "./single-chunk.ts";

type Event = APIGatewayProxyEventV2;

/** Creates the Lambda of one endpoint: it reads the event and responds. API Gateway has already matched the route. */
export const lambda = (endpoint: Endpoint, world: AppWorld = createLambdaWorld()) =>
  createHttpChain(world, moneyAfterBug(endpoint)).handler(async (event, context) => {
    const answer = await respond(world, endpoint, toRequest(event, context));
    const isHead = event.requestContext.http.method === "HEAD";
    return isHead ? toHeadResult(answer) : bufferResponse(answer);
  });

const readBytes = ({ body = "", isBase64Encoded }: Event): AsyncIterable<Uint8Array> => {
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  if (bytes.length > LAMBDA_BYTES_MAX) throw formTooLarge(LAMBDA_BYTES_MAX);
  return singleChunk(bytes);
};

export const toRequest = (event: Event, context: Context): HttpRequest => ({
  ...identify(event),
  headers: readHeaders(event),
  clientIp: getClientIp(event, process.env["FRONT_SECRET"]),
  path: omitUndefined(event.pathParameters),
  query: readQuery(event),
  body: (bytesMax) => readBody(event, context, bytesMax),
  bytes: () => readBytes(event),
});

/** API Gateway lists the cookies apart from the headers. */
const readHeaders = ({ headers, cookies }: Event): HttpRequest["headers"] =>
  cookies ? { ...headers, cookie: cookies.join("; ") } : headers;

/** API Gateway has joined the values of a repeated parameter. */
const readQuery = ({ rawQueryString, queryStringParameters }: Event) => {
  assertFewParameters(rawQueryString);
  return omitUndefined(queryStringParameters);
};

const omitUndefined = (values: Readonly<Record<string, string | undefined>> = {}) =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
