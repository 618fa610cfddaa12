import { queueLetters } from "@mailproof/core/mails/week";
import { withQueue } from "../capabilities/queue.ts";
import { createLambdaWorld } from "../lambda-world.ts";
import { createScheduleHandler } from "../schedule-handler.ts";

export const handler = createScheduleHandler(queueLetters, createLambdaWorld([withQueue]));
