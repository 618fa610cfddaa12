import { assessMail } from "@mailproof/core/deliverability/mail-tests/mail-test-worker";
import { withBlobs } from "../capabilities/blobs.ts";
import { withDns } from "../capabilities/dns.ts";
import { withQueue } from "../capabilities/queue.ts";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(
  assessMail,
  createLambdaWorld([withQueue, withBlobs, withDns]),
);
