import * as v from "valibot";
import { Flag, part } from "./schemas.ts";

// What a batch and a file can be asked for in the same words.

const isHttps = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return protocol === "https:" && username === "" && password === "";
};

const NAME_LENGTH_MAX = 200;
const URL_LENGTH_MAX = 2_000;

export const JobName = v.optional(
  v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, "must not be empty"),
    v.maxLength(NAME_LENGTH_MAX, `must have at most ${NAME_LENGTH_MAX} characters`),
  ),
);

/** Whether anything inside our network could be reached by it is looked at when it is called. */
export const CallbackUrl = v.optional(
  v.pipe(
    v.string(),
    v.maxLength(URL_LENGTH_MAX, `must have at most ${URL_LENGTH_MAX} characters`),
    v.check(isHttps, "must be an https address without credentials"),
  ),
);

/** There is no wait to be bounded: `timeout_ms` is no field here. */
export const JobOptions = v.optional(part({ deep_verify: Flag(true), include_ai: Flag(true) }), {});

export const wantsOf = (options: v.InferOutput<typeof JobOptions>) => ({
  deepVerify: options.deep_verify,
  includeAi: options.include_ai,
});
