import { describeReach } from "@mailproof/core/egress/describe-reach";
import { REACHES, type Reach } from "@mailproof/core/egress/reach";
import * as v from "valibot";
import { describe } from "./common.ts";
import * as field from "./fields.ts";

export const ReachField = field.object("Whether this service can see mail servers.", {
  state: describe(
    v.picklist(REACHES),
    "open: mail servers can be asked. refused_by: some large providers refuse it now. dns_only: port 25 is closed. lab: only addresses of the built-in lab have results.",
  ),
  message: field.text("The same in a sentence, for the person who asks."),
  refused_by: describe(v.array(v.string()), "The large mail providers that refuse it now."),
  measured_at: field.textOrNull("When it was measured, ISO 8601. Null when it never was."),
});

export const toReach = (reach: Reach): v.InferOutput<typeof ReachField> => ({
  state: reach.state,
  message: describeReach(reach),
  refused_by: [...reach.refusedBy],
  measured_at: reach.measuredAt,
});
