import { endpoints } from "@mailproof/api/endpoints";
import { asFailure, refuse } from "@mailproof/api/respond";
import { routerOf } from "@mailproof/api/routes";
import type { World } from "@mailproof/core/world";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { awsWorld } from "./world.ts";

const route = routerOf(endpoints);

/** API Gateway's $default route: its own 404 has another shape than ours, and it knows no 405. */
export const unrouted =
  (world: World = awsWorld()) =>
  async (event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> => {
    const { method } = event.requestContext.http;
    try {
      const { endpoint } = route(method, event.rawPath);
      throw new Error(`API Gateway does not know ${endpoint.route}`);
    } catch (error) {
      const { requestId } = event.requestContext;
      const { headers, ...answer } = refuse(world, requestId, asFailure(error, "nothing_charged"));
      return { ...answer, headers: { ...headers } };
    }
  };
