import {
  assertCheapJson,
  assertJsonType,
  bodyTooLarge,
  formTooLarge,
  malformedJson,
} from "@mailproof/api/http/body";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import {
  asFailure,
  type HttpRequest,
  moneyAfterBug,
  refuse,
  respond,
} from "@mailproof/api/http/respond";
import type { AppWorld } from "@mailproof/core/app-world";
import middy, { type MiddlewareObj } from "@middy/core";
import jsonBodyParser from "@middy/http-json-body-parser";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { bufferResponse, toHeadResult, toResult } from "./buffer-response.ts";
import { countAnswer } from "./count-answers.ts";
import { createLambdaWorld } from "./lambda-world.ts";
import { singleChunk } from "./single-chunk.ts";

type Event = APIGatewayProxyEventV2;

/** The whole Lambda of one endpoint: read the event, respond. API Gateway has already matched the route. */
export const lambda = (endpoint: Endpoint, world: AppWorld = createLambdaWorld()) =>
  middy<Event, APIGatewayProxyStructuredResultV2>()
    .use(countAnswers(endpoint.route))
    .onError((request) => {
      const failure = asFailure(request.error, moneyAfterBug(endpoint));
      request.response = toResult(refuse(world, getRequestId(request.event), failure));
    })
    .handler(async (event) => {
      const answer = await respond(world, endpoint, toRequest(event));
      const isHead = event.requestContext.http.method === "HEAD";
      return isHead ? toHeadResult(answer) : bufferResponse(answer);
    });

// The API checks the content type: the parser's own 415 is not in the contract.
const jsonParser = jsonBodyParser({ disableContentTypeCheck: true });

/**
 * The parser is not a middleware: there it would read the body before the key is checked. Its errors have the status
 * 422; this API promises 400 for an unreadable body.
 */
const readBody = async (event: Event, bytesMax: number): Promise<unknown> => {
  const { body, isBase64Encoded, headers } = event;
  if (!body) return undefined;
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  if (bytes.length > bytesMax) throw bodyTooLarge(bytesMax);
  assertJsonType(headers["content-type"]);
  assertCheapJson(bytes);
  const parsedEvent = { ...event };
  try {
    await jsonParser.before?.({ event: parsedEvent } as Request);
  } catch (cause) {
    throw malformedJson(cause);
  }
  return parsedEvent.body;
};

/** A Lambda event has at most 6 MB of JSON, and a form arrives as base64: three bytes in four characters. */
const FORM_BYTES_MAX = 4_500_000;

const readBytes = ({ body = "", isBase64Encoded }: Event): AsyncIterable<Uint8Array> => {
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  if (bytes.length > FORM_BYTES_MAX) throw formTooLarge(FORM_BYTES_MAX);
  return singleChunk(bytes);
};

type Request = Parameters<NonNullable<ReturnType<typeof jsonBodyParser>["before"]>>[0];

export const countAnswers = (
  route: string,
): MiddlewareObj<Event, APIGatewayProxyStructuredResultV2> => ({
  after: ({ response }) => countAnswer(route, response?.statusCode ?? 500),
  onError: ({ response }) => countAnswer(route, response?.statusCode ?? 500),
});

export const toRequest = (event: Event): HttpRequest => ({
  id: getRequestId(event),
  headers: event.headers,
  path: omitUndefined(event.pathParameters),
  query: omitUndefined(event.queryStringParameters),
  body: (bytesMax) => readBody(event, bytesMax),
  bytes: () => readBytes(event),
});

const omitUndefined = (values: Readonly<Record<string, string | undefined>> = {}) =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

export const getRequestId = (event: Event): string => event.requestContext.requestId;
