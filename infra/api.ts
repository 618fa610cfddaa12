import { CORS } from "@mailproof/api/http/cors";
import { createLambda, getLiveArn } from "./functions.ts";
import type { Domain } from "./settings.ts";
import { settings } from "./stage.ts";
import { LOG_RETENTION, listRouteKeys, routes, throttle } from "./topology.ts";

/** SST creates the certificate and the DNS records in Route 53. An operator with an own certificate creates the records. */
export const toSstDomain = ({ name, certificate }: Domain) =>
  certificate === null ? name : { name, dns: false as const, cert: certificate };

/** The fields of the access log: neither the caller nor the path, which may contain an email address. */
const ACCESS_LOG = {
  time: "$context.requestTime",
  requestId: "$context.requestId",
  route: "$context.routeKey",
  status: "$context.status",
  latencyMs: "$context.responseLatency",
  integrationLatencyMs: "$context.integrationLatency",
  integrationError: "$context.integrationErrorMessage",
  bytes: "$context.responseLength",
};

export const api = new sst.aws.ApiGatewayV2("Api", {
  ...(settings.apiDomain && { domain: toSstDomain(settings.apiDomain) }),
  accessLog: { retention: LOG_RETENTION },
  cors: {
    allowOrigins: [...CORS.allowOrigins],
    allowMethods: [...CORS.allowMethods],
    allowHeaders: [...CORS.allowHeaders],
    exposeHeaders: [...CORS.exposeHeaders],
    maxAge: `${CORS.maxAgeSeconds} seconds`,
  },
  transform: {
    stage: (args) => {
      args.accessLogSettings = $output(args.accessLogSettings).apply((settings) => ({
        destinationArn: settings?.destinationArn ?? "",
        format: JSON.stringify(ACCESS_LOG),
      }));
      args.defaultRouteSettings = {
        throttlingRateLimit: throttle.perSecond,
        throttlingBurstLimit: throttle.burst,
        // Metrics of a route cost $0.30 each; our own metrics and the access log contain the same figures.
        detailedMetricsEnabled: false,
      };
    },
  },
});

export const httpLambdas = routes.map(({ route, lambda }) => {
  const made = createLambda(lambda);
  const arn = getLiveArn(lambda, made);
  for (const key of listRouteKeys(route)) api.route(key, arn);
  return { lambda, made };
});
