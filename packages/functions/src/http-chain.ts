import { asFailure, refuse } from "@mailproof/api/http/respond";
import type { MoneyOutcome } from "@mailproof/core/lib/failure";
import type { World } from "@mailproof/core/ports/world";
import type { MiddlewareObj, Request } from "@middy/core";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { toResult } from "./buffer-response.ts";
import { createChain } from "./chain.ts";
import { getHost } from "./front.ts";
import { logger } from "./log.ts";
import { countFailure, countRequest } from "./measure/requests.ts";

type Event = APIGatewayProxyEventV2;
type Result = APIGatewayProxyStructuredResultV2;
type Middleware = MiddlewareObj<Event, Result>;

/** API Gateway waits a second longer than the Lambda runs, so a late caller still gets our envelope. */
const TIMEOUT_EARLY_MS = 500;

/** `money`: the fate of the money after a thrown error. */
export const createHttpChain = (world: Pick<World, "log">, money: MoneyOutcome) =>
  createChain<Event, Result>([withRequestId, createRequestCounter(), answerErrors(world, money)], {
    timeoutEarlyInMillis: TIMEOUT_EARLY_MS,
  });

/** The header X-Request-Id, API Gateway's access log and each line of our log contain this id. */
const getRequestId = (event: Event): string => event.requestContext.requestId;

/** Links in a response point to the host that was called, as the documents' own do. */
const getBaseUrl = (event: Event): string =>
  `https://${getHost(event, process.env["FRONT_SECRET"])}`;

/** The request id and URL for every answer to this event. */
export const identify = (event: Event) => ({
  id: getRequestId(event),
  baseUrl: getBaseUrl(event),
});

const withRequestId: Middleware = {
  before: ({ event }) => logger.appendKeys({ requestId: getRequestId(event) }),
};

/** Names methods as the server on one machine does, which answers HEAD like GET, and tools only by POST. */
const toRoute = (routeKey: string, status: number): string => {
  if (routeKey === "$default") return status < 400 ? "document" : "none";
  return routeKey.replace(/^HEAD /, "GET ").replace(/^ANY /, "POST ");
};

/** A process answers one request at a time. */
const createRequestCounter = (): Middleware => {
  let startedAtMs = 0;
  const countAnswer = ({ event, response, context }: Request<Event, Result>): void => {
    const status = response?.statusCode ?? 500;
    const seconds = (performance.now() - startedAtMs) / 1000;
    countRequest({ route: toRoute(event.routeKey, status), status, seconds });
    if (status >= 500) countFailure(context.functionName);
  };
  return {
    before: () => {
      startedAtMs = performance.now();
    },
    after: countAnswer,
    onError: countAnswer,
  };
};

/** The last middleware of the chain, so that the other middlewares find its response. */
const answerErrors = (world: Pick<World, "log">, money: MoneyOutcome): Middleware => ({
  onError: (request) => {
    const failure = asFailure(request.error, money);
    request.response = toResult(refuse(world, identify(request.event), failure));
  },
});
