import { findMonitor } from "@mailproof/core/deliverability/monitor-items";
import { removeMonitor } from "@mailproof/core/deliverability/monitors";
import { Failure } from "@mailproof/core/lib/failure";
import { getOwnerId } from "@mailproof/core/money/payer";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import * as field from "../schema/fields.ts";

export const deleteMonitor = endpoint({
  id: "deleteMonitor",
  route: "DELETE /v1/deliverability/monitors/{id}",
  tag: "Deliverability",
  addition: "Ends a monitor, which would otherwise check for ever.",
  summary: "Delete a monitor. A check that has started is finished and charged.",
  access: "deliverability:write",
  tool: { effect: "destructive" },
  errors: ["NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The monitor's id (`monitor_id`).") }),
  output: v.object({
    monitor_id: field.text("The monitor's id."),
    deleted: describe(v.literal(true), "Always true."),
  }),

  async handle(world, caller, { path: { id } }) {
    const monitor = await findMonitor(world.table, id);
    const isTheirs = monitor?.owner === getOwnerId(caller);
    if (!isTheirs || !(await removeMonitor(world, monitor)))
      throw new Failure("NOT_FOUND", "nothing_charged", "No such monitor.");
    return ok({ monitor_id: id, deleted: true as const });
  },
});
