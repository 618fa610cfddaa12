import { findActivity } from "@mailproof/core/activity/find-activity";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { ActivityRecord, Email, toRecord } from "../schema/activity.ts";
import { describe } from "../schema/common.ts";

export const getActivity = endpoint({
  id: "getActivity",
  route: "GET /v1/activity/{email}",
  tag: "Activity",
  summary: "Get the opens and clicks of an address.",
  access: "activity:read",

  path: v.strictObject({ email: describe(Email, "The address.") }),
  output: ActivityRecord,

  async handle(world, caller, { path }) {
    const activity = await findActivity(world, caller, path.email);
    return ok(toRecord(path.email, activity));
  },
});
