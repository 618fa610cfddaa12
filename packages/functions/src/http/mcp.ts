import { createMcpLambda } from "../mcp.ts";
import { withDns } from "../reach/dns.ts";
import { withHttps } from "../reach/https.ts";
import { withProber } from "../reach/prober.ts";
import { type Capability, createLambdaWorld } from "../world.ts";

/** A tool may be any operation, so this Lambda has every way out. */
const everywhere: Capability = (ground) => ({
  ...withDns(ground),
  ...withHttps(ground),
  ...withProber(ground),
});

export const handler = createMcpLambda(createLambdaWorld(everywhere));
