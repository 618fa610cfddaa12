import type { Place } from "./schema.ts";
import { COMPONENT_WORDS, FIELD_WORDS, PARAMETER_WORDS } from "./words-of-fields.ts";

/**
 * What stands at a place, in words: by the component or the field above and the field, or by the field alone where it
 * means the same everywhere.
 */
export const wordsFor = (place: Place): string | undefined => {
  const [first = "", ...more] = place;
  if (more.length === 0) return COMPONENT_WORDS[first];
  const field = place.at(-1) ?? "";
  const above = `${place.at(-2)}.${field}`;
  if (first === "path" || first === "query") return PARAMETER_WORDS[above] ?? FIELD_WORDS[field];
  return FIELD_WORDS[above] ?? FIELD_WORDS[field];
};
