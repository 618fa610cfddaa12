import * as v from "valibot";
import { Count, describe, Integer } from "./common.ts";

export const createScoreParts = <Part extends v.GenericSchema<string>>(part: Part) =>
  describe(
    v.object({
      components: describe(
        v.array(
          v.object({
            component: describe(part, "The part's name."),
            weight: describe(Count, "The part's weight."),
            score: describe(Integer, "The part's score, 0–100."),
          }),
        ),
        "The parts of the weighted mean.",
      ),
      before_cap: describe(Count, "The weighted mean before caps, 0–100."),
      capped_by: describe(
        v.optional(v.string()),
        "The cap that lowered the score. Left out when no cap did.",
      ),
    }),
    "How the score is computed.",
  );
