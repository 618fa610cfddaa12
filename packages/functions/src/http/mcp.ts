import { mcpLambda } from "../mcp.ts";

export const handler = mcpLambda();
