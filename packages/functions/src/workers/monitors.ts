import { runMonitor } from "@mailproof/core/deliverability/monitors";
import { withDns } from "../capabilities/dns.ts";
import { withQueue } from "../capabilities/queue.ts";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(runMonitor, createLambdaWorld([withQueue, withDns]));
