import { asFailure, refuse } from "@mailproof/api/http/respond";
import type { AppWorld } from "@mailproof/core/app-world";
import { createMcp, MCP_PATH } from "@mailproof/mcp/serve";
import middy from "@middy/core";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { toResult } from "./buffer-response.ts";
import { countAnswers, getRequestId, toRequest } from "./lambda.ts";
import { createLambdaWorld } from "./lambda-world.ts";

/** The Lambda of the MCP tools. It receives every method of its path and refuses all but POST, as MCP requires. */
export const createMcpLambda = (world: AppWorld = createLambdaWorld()) => {
  const mcp = createMcp(world);
  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(countAnswers(MCP_PATH))
    .onError((request) => {
      const failure = asFailure(request.error, "unknown");
      request.response = toResult(refuse(world, getRequestId(request.event), failure));
    })
    .handler(async (event) => {
      const { method } = event.requestContext.http;
      return toResult(await mcp({ ...toRequest(event), method }));
    });
};
