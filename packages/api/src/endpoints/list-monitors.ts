import { listMonitors as readMonitors } from "@mailproof/core/deliverability/monitor-items";
import { getOwnerId } from "@mailproof/core/money/payer";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe } from "../schema/common.ts";
import { MonitorSummary, toMonitorSummary } from "../schema/monitors.ts";

export const listMonitors = endpoint({
  id: "listMonitors",
  route: "GET /v1/deliverability/monitors",
  tag: "Deliverability",
  addition: "Finds the monitors again.",
  summary: "List the monitors, newest first.",
  access: "deliverability:read",

  output: v.object({ monitors: describe(v.array(MonitorSummary), "The monitors, newest first.") }),

  async handle(world, caller) {
    const monitors = await readMonitors(world.table, getOwnerId(caller));
    return ok({ monitors: monitors.map(toMonitorSummary) });
  },
});
