import { verifySingle } from "@mailproof/core/jobs/single";
import { createQueueHandler } from "../queue-worker.ts";
import { withMailServers } from "../reach/mail.ts";
import { createLambdaWorld } from "../world.ts";

export const handler = createQueueHandler(verifySingle, createLambdaWorld(withMailServers));
