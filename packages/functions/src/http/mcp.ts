import { withBlobs } from "../capabilities/blobs.ts";
import { withDns } from "../capabilities/dns.ts";
import { withHttps } from "../capabilities/https.ts";
import { withProber } from "../capabilities/prober.ts";
import { withQueue } from "../capabilities/queue.ts";
import { createLambdaWorld } from "../lambda-world.ts";
import { createMcpLambda } from "../mcp.ts";

/** A tool may be any operation, so this Lambda has every capability. */
export const handler = createMcpLambda(
  createLambdaWorld([withQueue, withBlobs, withProber, withDns, withHttps]),
);
