import { mcpLambda } from "../mcp.ts";
import { toDns } from "../reach/dns.ts";
import { toSubscribers } from "../reach/https.ts";
import { toProber } from "../reach/prober.ts";
import { awsWorld, type Reach } from "../world.ts";

/** A tool may be any operation, so this Lambda has every way out. */
const everywhere: Reach = (ground) => ({
  ...toDns(ground),
  ...toSubscribers(ground),
  ...toProber(ground),
});

export const handler = mcpLambda(awsWorld(everywhere));
