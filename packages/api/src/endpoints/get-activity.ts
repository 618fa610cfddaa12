import { findActivity } from "@mailproof/core/activity/find-activity";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { ActivityRecord, Email, toRecord } from "../schema/activity.ts";
import { describe, KEYED_ERRORS } from "../schema/common.ts";

export const getActivity = endpoint({
  id: "getActivity",
  route: "GET /v1/activity/{email}",
  tag: "Activity",
  summary: "Get the opens and clicks of an address.",
  price: null,
  access: "activity:read",
  needs: ["table:readwrite"],
  tool: { effect: "readOnly" },
  errors: KEYED_ERRORS,

  path: v.strictObject({ email: describe(Email, "The address.") }),
  output: ActivityRecord,

  async handle(world, caller, { path }) {
    const activity = await findActivity(world, caller, path.email);
    return { status: 200, data: toRecord(path.email, activity) };
  },
});
