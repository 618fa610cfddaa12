import { withDns } from "../capabilities/dns.ts";
import { withHttps } from "../capabilities/https.ts";
import { withProber } from "../capabilities/prober.ts";
import { type Capability, createLambdaWorld } from "../lambda-world.ts";
import { createMcpLambda } from "../mcp.ts";

/** A tool may be any operation, so this Lambda has every capability. */
const everywhere: Capability = (base) => ({
  ...withDns(base),
  ...withHttps(base),
  ...withProber(base),
});

export const handler = createMcpLambda(createLambdaWorld(everywhere));
