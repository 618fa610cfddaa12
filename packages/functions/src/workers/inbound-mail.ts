import { receiveSesMail } from "@mailproof/core/deliverability/ses-mail/receive-ses-mail";
import { withBlobs } from "../capabilities/blobs.ts";
import { withDns } from "../capabilities/dns.ts";
import { withQueue } from "../capabilities/queue.ts";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(
  receiveSesMail,
  createLambdaWorld([withQueue, withBlobs, withDns]),
);
