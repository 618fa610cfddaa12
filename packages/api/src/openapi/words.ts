import type { Place } from "./schema.ts";

/** By component and field, or by the field alone where it means the same everywhere. */
const WORDS: Readonly<Record<string, string>> = {};

/** What stands at a place, in words. */
export const wordsFor = (place: Place): string | undefined =>
  WORDS[place.join(".")] ?? (place.length > 1 ? WORDS[`.${place.at(-1)}`] : undefined);
