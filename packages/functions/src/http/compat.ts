import { withHttps } from "../capabilities/https.ts";
import { withProber } from "../capabilities/prober.ts";
import { withQueue } from "../capabilities/queue.ts";
import { createCompatLambda } from "../compat.ts";
import { createLambdaWorld } from "../lambda-world.ts";

/** The capabilities are those of POST /v1/verify. */
export const handler = createCompatLambda(createLambdaWorld([withQueue, withProber, withHttps]));
