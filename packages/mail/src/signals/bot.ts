import { findSteps } from "./keyboard.ts";
import { scoreNameLikeness, toBareLocal } from "./name-likeness.ts";

/** A score from here on sets `flags.bot_generated`; docs/scores.md shows the hits and the false alarms. */
export const BOT_THRESHOLD = 0.86;

export const isBot = (local: string): boolean => scoreBotLikeness(local) >= BOT_THRESHOLD;

/** Estimates the probability, 0 to 1, that a machine or random typing made a local part. */
export const scoreBotLikeness = (local: string): number => {
  // Each signal reduces the doubt to a share of it; the shares multiply.
  const doubt = listBotSignals(local).reduce((left, { value }) => left * (1 - value), 1);
  return Math.round((1 - doubt) * 100) / 100;
};

export const listBotSignals = (local: string) => {
  const bare = toBareLocal(local);
  const joined = bare.replaceAll(/[._-]/g, "");
  return [
    { signal: "spelling", value: scoreSpelling(bare, joined.length) },
    { signal: "hexadecimal", value: isLongHexadecimal(joined) ? HEXADECIMAL : 0 },
    { signal: "key_runs", value: scoreKeyRuns(joined) },
    { signal: "alternation", value: scoreAlternation(joined) },
    { signal: "digits", value: scoreDigits(joined) },
  ];
};

/** Odd spelling counts fully only from eight characters on: three initials are not a name either. */
const SPELLING_LENGTH_MIN = 8;
const scoreSpelling = (bare: string, length: number): number =>
  /\p{L}/u.test(bare)
    ? (1 - scoreNameLikeness(bare)) * Math.min(1, length / SPELLING_LENGTH_MIN)
    : 0;

/** Sixteen hexadecimal digits are 64 bits: a hash or an id. No word of only these letters is that long. */
const HEXADECIMAL = 0.95;
const isLongHexadecimal = (joined: string): boolean =>
  /^[0-9a-f]{16,}$/.test(joined) && /[0-9]/.test(joined) && /[a-f]/.test(joined);

const RUN_KEYS_MIN = 3;
/** "were" and "stuart" also contain a short run; five keys in such runs are hardly a name. */
const RUN_KEYS_TOTAL_MIN = 5;

const ANY_STEP = -1;

const scoreKeyRuns = (joined: string): number => {
  const letters = joined.replaceAll(/[^a-z]/g, "");
  let inRuns = 0;
  let run = 1;
  let steps = ANY_STEP;
  for (let at = 1; at <= letters.length; at++) {
    const step = findSteps(letters[at - 1] ?? "", letters[at] ?? "");
    if ((steps & step) !== 0) {
      run += 1;
      steps &= step;
      continue;
    }
    if (run >= RUN_KEYS_MIN) inRuns += run;
    run = 1;
    steps = step === 0 ? ANY_STEP : step;
  }
  return inRuns >= RUN_KEYS_TOTAL_MIN ? inRuns / joined.length : 0;
};

/** "ann84" changes from letters to digits once, "xk7qz9w2" five times; each change beyond two counts. */
const CHANGES_FREE = 2;
const PER_CHANGE = 0.2;
const ALTERNATION_MAX = 0.8;
const scoreAlternation = (joined: string): number => {
  const changes = (joined.match(/(?<=[a-z])[0-9]|(?<=[0-9])[a-z]/g) ?? []).length;
  return Math.min(ALTERNATION_MAX, Math.max(0, changes - CHANGES_FREE) * PER_CHANGE);
};

/** Phone and account numbers are people's addresses in many countries: a hint, never enough for the flag. */
const DIGITS = 0.3;
const DIGITS_MIN = 6;
const scoreDigits = (joined: string): number => {
  const digits = joined.replaceAll(/[^0-9]/g, "").length;
  return digits >= DIGITS_MIN && digits * 2 > joined.length ? DIGITS : 0;
};
