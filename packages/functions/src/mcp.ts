import type { AppWorld } from "@mailproof/core/app-world";
import { createMcp } from "@mailproof/mcp/serve";
import { toResult } from "./buffer-response.ts";
import { createHttpChain } from "./http-chain.ts";
import { toRequest } from "./lambda.ts";
import { createLambdaWorld } from "./lambda-world.ts";

/** The Lambda of the MCP tools. It receives every method of its path and refuses all but POST, as MCP requires. */
export const createMcpLambda = (world: AppWorld = createLambdaWorld()) => {
  const mcp = createMcp(world);
  return createHttpChain(world, "unknown").handler(async (event, context) => {
    const { method } = event.requestContext.http;
    return toResult(await mcp({ ...toRequest(event, context), method }));
  });
};
