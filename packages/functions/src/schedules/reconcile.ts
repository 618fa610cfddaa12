import { reconcile } from "@mailproof/core/background/reconciler";
import { withDns } from "../capabilities/dns.ts";
import { createLambdaWorld } from "../lambda-world.ts";
import { createScheduleHandler } from "../schedule-handler.ts";

export const handler = createScheduleHandler(reconcile, createLambdaWorld(withDns));
