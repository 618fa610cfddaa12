import { makeExport } from "@mailproof/core/exports/export-worker";
import { toDeadLetterWorker } from "@mailproof/core/runtime/worker";
import { withBlobs } from "../capabilities/blobs.ts";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(
  toDeadLetterWorker(makeExport),
  createLambdaWorld([withBlobs]),
);
