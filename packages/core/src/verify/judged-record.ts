import { toSnake } from "./fields.ts";
import { type JudgedInput, type Signals, UNLISTED } from "./signals.ts";

// The signals of a verdict, as evidence stores them: without false, null and 0, which most signals are. The record is therefore
// a third as long, and a signal that a later release adds is neutral in older evidence.

type Neutral = Omit<Signals, "domain" | "catchAll">;

const NEUTRAL: Neutral = {
  syntaxFault: null,
  listed: UNLISTED,
  mailbox: null,
  acceptsThenBounces: false,
  rejectsUnknownRecipients: false,
  acceptsUnknownRecipients: false,
  bounced: false,
  nameFault: null,
  hasUnusualLength: false,
  longName: null,
  botLikeness: 0,
  encrypted: false,
};

const NEUTRAL_FINDING = { confidence: 0, retry: null, aboutUs: false };

export type JudgedRecord = Readonly<Record<string, unknown>>;

export const recordJudged = ({ signals, catchAllConfidence }: JudgedInput): JudgedRecord => ({
  ...omitNeutral(signals),
  ...(catchAllConfidence !== null && { catch_all_confidence: catchAllConfidence }),
});

const omitNeutral = (values: object): JudgedRecord =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]: [string, unknown]) => {
      if (typeof value !== "object" || value === null) return value ? [[toSnake(name), value]] : [];
      const others = omitNeutral(value);
      return Object.keys(others).length === 0 ? [] : [[toSnake(name), others]];
    }),
  );

export const readJudged = (record: JudgedRecord): JudgedInput => {
  const { catchAllConfidence, listed, mailbox, ...others } = toOwn(record);
  const signals = {
    ...NEUTRAL,
    ...others,
    listed: { ...UNLISTED, ...listed },
    mailbox: mailbox ? { ...NEUTRAL_FINDING, ...mailbox } : null,
  } as Signals;
  return { signals, catchAllConfidence: catchAllConfidence ?? null };
};

type Recorded = Partial<Signals> & { readonly catchAllConfidence?: number };

const toOwn = (values: object): Recorded =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]: [string, unknown]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      typeof value === "object" && value !== null ? toOwn(value) : value,
    ]),
  );
