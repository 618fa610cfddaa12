import { runMonitor } from "@mailproof/core/deliverability/monitors";
import { toDeadLetterWorker } from "@mailproof/core/runtime/worker";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(toDeadLetterWorker(runMonitor), createLambdaWorld());
