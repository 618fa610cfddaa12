import { verifySingle } from "@mailproof/core/jobs/single";
import { queueWorker } from "../queue-worker.ts";
import { toMailServers } from "../reach/mail.ts";
import { awsWorld } from "../world.ts";

export const handler = queueWorker(verifySingle, awsWorld(toMailServers));
