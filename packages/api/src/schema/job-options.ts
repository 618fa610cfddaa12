import { MAX_WAIT_MINUTES } from "@mailproof/core/verify/retry";
import * as v from "valibot";
import { describe, Flag, limitCharacters, notEmpty, optional, optionalOr, part } from "./common.ts";
import { OutgoingUrl } from "./outgoing-url.ts";

const NAME_LENGTH_MAX = 200;

export const JobName = optional(
  v.pipe(v.string(), v.trim(), notEmpty, limitCharacters(NAME_LENGTH_MAX)),
);

const COLUMN_LENGTH_MAX = 200;

const ColumnName = v.pipe(v.string(), notEmpty, limitCharacters(COLUMN_LENGTH_MAX));

export const EmailColumn = optional(ColumnName);

const COLUMNS_MAX = 10;
const COLUMNS_WORDS = `must be a list of 1 to ${COLUMNS_MAX} columns`;

export const EmailColumns = optional(
  v.pipe(
    v.array(ColumnName, COLUMNS_WORDS),
    v.minLength(1, COLUMNS_WORDS),
    v.maxLength(COLUMNS_MAX, COLUMNS_WORDS),
  ),
);

export const CallbackUrl = optional(OutgoingUrl);

const WAIT_WORDS = `must be a whole number of minutes from 0 to ${MAX_WAIT_MINUTES.most}`;

const MaxWaitMinutes = optionalOr(
  v.pipe(
    v.number(WAIT_WORDS),
    v.integer(WAIT_WORDS),
    v.minValue(0, WAIT_WORDS),
    v.maxValue(MAX_WAIT_MINUTES.most, WAIT_WORDS),
  ),
  MAX_WAIT_MINUTES.default,
);

/** Without `timeout_ms`, because the client does not wait for the result. */
export const JobOptions = optionalOr(
  part({
    deep_verify: describe(
      Flag(true),
      "Whether to ask the mail server about the mailbox. With `false` only syntax, lists and DNS are checked, at the same price; `verification.not_known` names the rest.",
    ),
    include_ai: describe(Flag(true), "Whether results have `ai`."),
    max_wait_minutes: describe(
      MaxWaitMinutes,
      "The longest time, in minutes, that an address may wait for further attempts; 0: one attempt only. After a throttle the attempts are 15, 60 and 240 minutes apart. Addresses not resolved by then are `unknown`, with the reason.",
    ),
  }),
  {},
);

type JobOptions = v.InferOutput<typeof JobOptions>;

export const toVerifyOptions = (options: JobOptions) => ({
  deepVerify: options.deep_verify,
  includeAi: options.include_ai,
  maxWaitMinutes: options.max_wait_minutes,
});
