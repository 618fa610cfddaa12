import { runMonitor } from "@mailproof/core/deliverability/monitors";
import { deadLettersFor } from "@mailproof/core/worker";
import { queueWorker } from "../queue-worker.ts";
import { awsWorld } from "../world.ts";

export const handler = queueWorker(deadLettersFor(runMonitor), awsWorld());
