import { mcpLambda } from "../mcp.ts";
import { toDns } from "../reach/dns.ts";
import { toProber } from "../reach/prober.ts";
import { awsWorld } from "../world.ts";

// A tool may be any operation, so this one has every way out.
export const handler = mcpLambda(awsWorld((ground) => ({ ...toDns(ground), ...toProber(ground) })));
