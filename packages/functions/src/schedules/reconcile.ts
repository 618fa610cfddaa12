import { reconcile } from "@mailproof/core/background/reconciler";
import { withBlobs } from "../capabilities/blobs.ts";
import { withDns } from "../capabilities/dns.ts";
import { withQueue } from "../capabilities/queue.ts";
import { createLambdaWorld } from "../lambda-world.ts";
import { createScheduleHandler } from "../schedule-handler.ts";

export const handler = createScheduleHandler(
  reconcile,
  createLambdaWorld([withQueue, withBlobs, withDns]),
);
