import { reconcile } from "@mailproof/core/reconciler";
import { toDns } from "../reach/dns.ts";
import { scheduled } from "../scheduled.ts";
import { awsWorld } from "../world.ts";

export const handler = scheduled(reconcile, awsWorld(toDns));
