import { SCOPES } from "@mailproof/core/accounts/scopes";
import { describe } from "@mailproof/core/lib/describe";
import type { FailureCode } from "@mailproof/core/lib/failure";
import { KEY_MODES } from "@mailproof/core/money/payer";
import * as v from "valibot";
import { isObject } from "../http/parse.ts";

export { describe };

/** The additional errors of a route that costs credits and accepts an Idempotency-Key. */
export const PAID_ERRORS = [
  "INVALID_IDEMPOTENCY_KEY",
  "INSUFFICIENT_CREDITS",
  "IDEMPOTENCY_KEY_CONFLICT",
  "PAYLOAD_TOO_LARGE",
] as const satisfies readonly FailureCode[];

/** The size of a page. It reduces a larger value to the maximum, and refuses anything but a whole number from 1 up. */
export const limitUpTo = ({ default: otherwise, most }: { default: number; most: number }) =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(/^0*[1-9]\d*$/, "must be a whole number from 1 up"),
      v.transform((text) => Math.min(Number(text), most)),
      v.metadata({ type: "integer", minimum: 1, pattern: undefined }),
    ),
    String(otherwise),
  );

export const Mode = describe(
  v.picklist(KEY_MODES, "must be live or test"),
  "live: real results, charged. test: simulated results, free.",
);
export const ScopeName = v.picklist(SCOPES, `must be one of ${SCOPES.join(", ")}`);

export const limitCharacters = (most: number) =>
  v.maxLength<string, number, string>(most, `must have at most ${most} characters`);

/**
 * For a text that is compared with stored texts: stored texts contain no control character (C0, DEL, C1), and some formats
 * separate texts by one.
 */
export const noControls = v.check<string, string>(
  (text) => !/\p{Cc}/u.test(text),
  "must have no control characters",
);

export const notEmpty = v.minLength<string, 1, string>(1, "must not be empty");

/** The maximum length of an address field, including a display name and comments. */
export const EMAIL_LENGTH_MAX = 1_000;

/** Text that is not an address gets a result, too. */
export const EmailText = v.pipe(
  v.string(),
  v.check((text) => text.trim() !== "", "must not be empty"),
  limitCharacters(EMAIL_LENGTH_MAX),
);

export const Integer = v.pipe(v.number(), v.integer());

export const Count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** An amount of credits. The smallest price is half a credit. */
export const Credits = v.pipe(v.number(), v.multipleOf(0.5));

export const CreditsRemaining = describe(
  v.optional(Credits),
  "Credits left after this charge, exactly. For a balance in several parts, as large ones are on AWS: the balance read right before the charge, less the charge. A repeat has the first response's figure, where that is stored. Where nothing is charged it is the balance at this moment. Left out when it is not known: that is not zero.",
);

export const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

/** A text with this JSON Schema format. The document shows the format; nothing checks it at run time. */
export const createText = (format: "email" | "idn-email" | "ipv4") =>
  v.pipe(v.string(), v.metadata({ format }));

const ID = /^[!-~]{1,100}$/;
/** A well-formed id that no item has. */
const UNUSED_ID = "-";

/** An id in the path. Text that cannot be an id causes the same failure as an unknown id. */
export const Id = v.pipe(
  v.string(),
  v.transform((text) => (ID.test(text) ? text : UNUSED_ID)),
);

/** Valibot accepts a list as an object, and an empty list as an object with every default, so this refuses lists. */
export const part = <E extends v.ObjectEntries>(entries: E) =>
  v.pipe(v.custom<object>(isObject, "must be an object"), v.strictObject(entries));

/** An optional field of a body. Some clients send null for every field that they do not set. */
export const optional = <S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    v.nullish(schema),
    v.transform((value) => value ?? undefined),
  );

export const optionalOr = <S extends v.GenericSchema, const D extends v.InferInput<S>>(
  schema: S,
  otherwise: D,
) => v.nullish(schema, otherwise);

export const Flag = (otherwise: boolean) =>
  optionalOr(v.boolean("must be true or false"), otherwise);

/** The cursor of a page. An absent or blank cursor selects the first page. */
export const Cursor = v.optional(
  v.pipe(
    v.string(),
    v.transform((text) => (text.trim() === "" ? undefined : text)),
  ),
);

/** Checks the length before the items: a million invalid items are one error. */
export const createList = <S extends v.GenericSchema>(item: S, most: number) =>
  v.pipe(
    v.array(v.unknown()),
    v.maxLength(most, `must have at most ${most} entries`),
    v.array(item),
  );

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A day of the calendar: 2026-02-30 is refused. */
export const Day = v.pipe(
  v.string(),
  v.check((text) => DATE.test(text) && isCalendarDay(text), "must be a date such as 2026-11-21"),
);

const isCalendarDay = (text: string): boolean => {
  const date = new Date(`${text}T00:00:00.000Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
};

const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** A timestamp with its offset from UTC; without the offset it would be ambiguous. */
export const Timestamp = v.pipe(
  v.string(),
  v.check(
    (text) => isTimestamp(text),
    "must be a timestamp with its offset, such as 2026-11-21T09:30:00Z",
  ),
  v.transform((text) => new Date(text)),
);

const isTimestamp = (text: string): boolean => {
  const [, day = ""] = TIMESTAMP.exec(text) ?? [];
  return isCalendarDay(day) && !Number.isNaN(Date.parse(text));
};
