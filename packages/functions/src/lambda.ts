import { assertJsonType, BODY_BYTES_MAX, bodyTooLarge, malformedJson } from "@mailproof/api/body";
import type { Endpoint } from "@mailproof/api/endpoint";
import {
  asFailure,
  type HttpAnswer,
  type HttpRequest,
  refuse,
  respond,
} from "@mailproof/api/respond";
import { Failure } from "@mailproof/core/failure";
import type { World } from "@mailproof/core/world";
import middy, { type MiddlewareObj } from "@middy/core";
import jsonBodyParser from "@middy/http-json-body-parser";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { countAnswer } from "./metrics.ts";
import { awsWorld } from "./world.ts";

type Event = APIGatewayProxyEventV2;

/** The whole Lambda of one endpoint: read the event, respond. API Gateway has already matched the route. */
export const lambda = (endpoint: Endpoint, world: World = awsWorld()) =>
  middy<Event, APIGatewayProxyStructuredResultV2>()
    .use(counted(endpoint.route))
    .use(bodyParser(endpoint))
    .onError((request) => {
      const failure = failureOf(request.error);
      request.response = toResult(refuse(world, idOf(request.event), failure));
    })
    .handler(async (event) => toResult(await respond(world, endpoint, toRequest(event))));

// Whether the type is right is for the API to say: the parser's own 415 is not in the contract.
const json = jsonBodyParser({ disableContentTypeCheck: true });

/** An endpoint that reads no body gets none; the parser would refuse an event without one. */
const bodyParser = (endpoint: Endpoint): MiddlewareObj<Event> => ({
  before: (request) => {
    const { body, isBase64Encoded, headers } = request.event;
    if (!endpoint.body || !body) return void delete request.event.body;
    if (Buffer.byteLength(body, isBase64Encoded ? "base64" : "utf8") > BODY_BYTES_MAX)
      throw bodyTooLarge();
    assertJsonType(headers["content-type"]);
    return json.before?.(request);
  },
});

const counted = (route: string): MiddlewareObj<Event, APIGatewayProxyStructuredResultV2> => ({
  after: ({ response }) => countAnswer(route, response?.statusCode ?? 500),
  onError: ({ response }) => countAnswer(route, response?.statusCode ?? 500),
});

const toRequest = (event: Event): HttpRequest => ({
  id: idOf(event),
  headers: event.headers,
  path: defined(event.pathParameters),
  query: defined(event.queryStringParameters),
  body: event.body,
});

const defined = (values: Readonly<Record<string, string | undefined>> = {}) =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

const toResult = ({
  statusCode,
  headers,
  body,
}: HttpAnswer): APIGatewayProxyStructuredResultV2 => ({
  statusCode,
  headers: { ...headers },
  body,
});

const idOf = (event: Event): string => event.requestContext.requestId;

// What the parser throws carries a status of its own, 422; this API promises 400 for what it cannot read.
const failureOf = (error: unknown): Failure =>
  error instanceof Error && "statusCode" in error
    ? malformedJson(error)
    : asFailure(error, "nothing_charged");
