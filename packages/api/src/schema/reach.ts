import { describeReach } from "@mailproof/core/egress/describe-reach";
import { REACHES, type Reach } from "@mailproof/core/egress/reach";
import * as v from "valibot";
import { describe } from "./common.ts";

export const ReachField = describe(
  v.object({
    state: describe(
      v.picklist(REACHES),
      "open: mail servers can be asked. refused_by: some large providers refuse it now. dns_only: port 25 is closed. lab: only addresses of the built-in lab have results.",
    ),
    message: describe(v.string(), "The same in a sentence, for the person who asks."),
    refused_by: describe(v.array(v.string()), "The large mail providers that refuse it now."),
    measured_at: describe(
      v.nullable(v.string()),
      "When it was measured, ISO 8601. Null when it never was.",
    ),
  }),
  "Whether this service can see mail servers.",
);

export const toReach = (reach: Reach): v.InferOutput<typeof ReachField> => ({
  state: reach.state,
  message: describeReach(reach),
  refused_by: [...reach.refusedBy],
  measured_at: reach.measuredAt,
});
