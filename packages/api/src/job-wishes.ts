import * as v from "valibot";
import { OutgoingUrl } from "./outgoing-url.ts";
import { charactersUpTo, Flag, notEmpty, part } from "./schemas.ts";

// What a batch and a file can be asked for in the same words.

const NAME_LENGTH_MAX = 200;

export const JobName = v.optional(
  v.pipe(v.string(), v.trim(), notEmpty, charactersUpTo(NAME_LENGTH_MAX)),
);

export const CallbackUrl = v.optional(OutgoingUrl);

/** There is no wait to be bounded: `timeout_ms` is no field here. */
export const JobOptions = v.optional(part({ deep_verify: Flag(true), include_ai: Flag(true) }), {});

export const wantsOf = (options: v.InferOutput<typeof JobOptions>) => ({
  deepVerify: options.deep_verify,
  includeAi: options.include_ai,
});
