import * as v from "valibot";
import { Count, Credits, describe, Integer, Share } from "./common.ts";

// The usual fields of a response. The description is the first argument; it states when an optional field is left out, or what
// null means.

// @__NO_SIDE_EFFECTS__
export const text = (words: string) => describe(v.string(), words);

// @__NO_SIDE_EFFECTS__
export const maybeText = (words: string) => describe(v.optional(v.string()), words);

// @__NO_SIDE_EFFECTS__
export const textOrNull = (words: string) => describe(v.nullable(v.string()), words);

// @__NO_SIDE_EFFECTS__
export const boolean = (words: string) => describe(v.boolean(), words);

// @__NO_SIDE_EFFECTS__
export const maybeBoolean = (words: string) => describe(v.optional(v.boolean()), words);

// @__NO_SIDE_EFFECTS__
export const count = (words: string) => describe(Count, words);

// @__NO_SIDE_EFFECTS__
export const maybeCount = (words: string) => describe(v.optional(Count), words);

// @__NO_SIDE_EFFECTS__
export const integer = (words: string) => describe(Integer, words);

// @__NO_SIDE_EFFECTS__
export const maybeInteger = (words: string) => describe(v.optional(Integer), words);

// @__NO_SIDE_EFFECTS__
export const credits = (words: string) => describe(Credits, words);

// @__NO_SIDE_EFFECTS__
export const maybeShare = (words: string) => describe(v.optional(Share), words);

// @__NO_SIDE_EFFECTS__
export const object = <E extends v.ObjectEntries>(words: string, entries: E) =>
  describe(v.object(entries), words);

// @__NO_SIDE_EFFECTS__
export const maybeObject = <E extends v.ObjectEntries>(words: string, entries: E) =>
  describe(v.optional(v.object(entries)), words);

// @__NO_SIDE_EFFECTS__
export const objects = <E extends v.ObjectEntries>(words: string, entries: E) =>
  describe(v.array(v.object(entries)), words);
