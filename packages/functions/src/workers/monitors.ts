import { runMonitor } from "@mailproof/core/deliverability/monitors";
import { queueWorker } from "../queue-worker.ts";
import { toDns } from "../reach/dns.ts";
import { awsWorld } from "../world.ts";

export const handler = queueWorker(runMonitor, awsWorld(toDns));
