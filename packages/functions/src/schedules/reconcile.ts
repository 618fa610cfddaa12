import { reconcile } from "@mailproof/core/reconciler";
import { withDns } from "../reach/dns.ts";
import { createScheduleHandler } from "../scheduled.ts";
import { createLambdaWorld } from "../world.ts";

export const handler = createScheduleHandler(reconcile, createLambdaWorld(withDns));
