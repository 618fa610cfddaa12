import { assessMail } from "@mailproof/core/deliverability/mail-tests/mail-test-worker";
import { toDeadLetterWorker } from "@mailproof/core/runtime/worker";
import { createLambdaWorld } from "../lambda-world.ts";
import { createQueueHandler } from "../queue-handler.ts";

export const handler = createQueueHandler(toDeadLetterWorker(assessMail), createLambdaWorld());
