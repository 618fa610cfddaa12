import { runMonitor } from "@mailproof/core/deliverability/monitors";
import { createQueueHandler } from "../queue-worker.ts";
import { withDns } from "../reach/dns.ts";
import { createLambdaWorld } from "../world.ts";

export const handler = createQueueHandler(runMonitor, createLambdaWorld(withDns));
