import { listMonitors as readMonitors } from "@mailproof/core/deliverability/monitor-items";
import { getOwnerId } from "@mailproof/core/money/payer";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { describe, KEYED_ERRORS } from "../schema/common.ts";
import { MonitorSummary, toMonitorSummary } from "../schema/monitors.ts";

export const listMonitors = endpoint({
  id: "listMonitors",
  route: "GET /v1/deliverability/monitors",
  tag: "Deliverability",
  addition: "Finds the monitors again.",
  summary: "List the monitors, newest first.",
  price: null,
  access: "deliverability:read",
  needs: ["table:readwrite"],
  tool: { effect: "readOnly" },
  errors: KEYED_ERRORS,

  output: v.object({ monitors: describe(v.array(MonitorSummary), "The monitors, newest first.") }),

  async handle(world, caller) {
    const monitors = await readMonitors(world.table, getOwnerId(caller));
    return { status: 200, data: { monitors: monitors.map(toMonitorSummary) } };
  },
});
