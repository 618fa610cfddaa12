import { createPublicWriter } from "./fields.ts";
import { type PackedValues, type PackedVerification, readPackedValues, unpack } from "./pack.ts";
import { RESULT_FIELDS } from "./result.ts";

// The public form of a stored result as JSON text, which an export writes half a million times. Most of a result is one of a
// few hundred combinations of codes and flags: the text of a combination is built once, and each row adds its own texts.

const toPublicResult = createPublicWriter(RESULT_FIELDS);

/** Mark the positions of a row's texts. JSON escapes control characters, so no other text of a result contains these. */
const MARKS = ["\u0001", "\u0002", "\u0003", "\u0004", "\u0005"] as const;
const MARK = /"\\u000[1-5]"/;

/** The text before, between and after the address, three names and the time. */
type Template = readonly string[];

/** This text differs from every text of a row. */
const NONE = "\u0000";

const TEMPLATES_MAX = 5_000;
const templates = new Map<string, Template>();

/** Returns `JSON.stringify` of the public form, without its braces. */
export const toPublicMembers = (packed: PackedVerification): string => {
  const values = readPackedValues(packed);
  const [, email, , , , , , , , [first, last, full], ai, , verifiedAt, evidence] = values;
  // Evidence and typo suggestions seldom repeat in two rows.
  if (evidence !== undefined || (ai && ai[0] !== null)) return writeMembers(packed);
  const [before, beforeFirst, beforeLast, beforeFull, beforeTime, behind] = findTemplate(values);
  return `${before}${JSON.stringify(email)}${beforeFirst}${JSON.stringify(first)}${beforeLast}${JSON.stringify(last)}${beforeFull}${JSON.stringify(full)}${beforeTime}${JSON.stringify(verifiedAt)}${behind}`;
};

const writeMembers = (packed: PackedVerification): string =>
  JSON.stringify(toPublicResult(unpack(packed))).slice(1, -1);

const findTemplate = (values: PackedValues): Template => {
  const [version, , status, score, reason, sub, provider, checks, flags, names, ai, retry] = values;
  const confidence = ai ? `${ai[1]} ${ai[2]}` : "";
  const texts = `${status}\n${reason}\n${sub ?? NONE}\n${provider ?? NONE}\n${names[3]}`;
  const key = `${texts}\n${version} ${score} ${checks} ${flags} ${confidence} ${retry}`;
  const cached = templates.get(key);
  if (cached) return cached;
  if (templates.size >= TEMPLATES_MAX) templates.clear();
  const made = createTemplate(values);
  templates.set(key, made);
  return made;
};

const createTemplate = (values: PackedValues): Template => {
  const [version, , status, score, reason, sub, provider, checks, flags, names, ai, retry] = values;
  const [email, first, last, full, time] = MARKS;
  const marked = [first, last, full, names[3]];
  return writeMembers([
    version,
    email,
    status,
    score,
    reason,
    sub,
    provider,
    checks,
    flags,
    marked,
    ai,
    retry,
    time,
  ]).split(MARK);
};
