import * as v from "valibot";
import { describe } from "./common.ts";
import * as field from "./fields.ts";

export const createScoreParts = <Part extends v.GenericSchema<string>>(part: Part) =>
  field.object("How the score is computed.", {
    components: field.objects("The parts of the weighted mean.", {
      component: describe(part, "The part's name."),
      weight: field.count("The part's weight."),
      score: field.integer("The part's score, 0–100."),
    }),
    before_cap: field.count("The weighted mean before caps, 0–100."),
    capped_by: field.maybeText("The cap that lowered the score. Left out when no cap did."),
  });
