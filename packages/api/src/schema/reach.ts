import { describeReach } from "@mailproof/core/egress/describe-reach";
import { REACHES, type Reach } from "@mailproof/core/egress/reach";
import * as v from "valibot";
import { describe } from "./common.ts";

export const ReachField = describe(
  v.object({
    state: describe(
      v.picklist(REACHES),
      "open: mail servers can be asked. refused_by: some large providers refuse this service now. dns_only: names have answers, and port 25 is closed, so results that need a mail server stay unknown and cost nothing. lab: only addresses of the built-in lab have results. not_measured: not known yet.",
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
