import { type JudgedInput, type Signals, UNLISTED } from "./signals.ts";

// What was judged, as evidence has it: without what is false, null or 0, which is most of it. So it is a third as long,
// and a signal that a later release adds is neutral in older evidence.

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

export type JudgedRecord = Pick<Signals, "domain" | "catchAll"> & {
  readonly [Name in keyof Neutral]?: Partial<Neutral[Name]>;
} & { readonly catchAllConfidence?: number };

export const recordJudged = ({ signals, catchAllConfidence }: JudgedInput): JudgedRecord => ({
  ...(omitNeutral(signals) as JudgedRecord),
  ...(catchAllConfidence !== null && { catchAllConfidence }),
});

const omitNeutral = (values: object): object =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]: [string, unknown]) => {
      if (typeof value !== "object" || value === null) return value ? [[name, value]] : [];
      const others = omitNeutral(value);
      return Object.keys(others).length === 0 ? [] : [[name, others]];
    }),
  );

export const readJudged = ({ catchAllConfidence, ...recorded }: JudgedRecord): JudgedInput => {
  const { listed, mailbox } = recorded;
  const signals = {
    ...NEUTRAL,
    ...recorded,
    listed: { ...UNLISTED, ...listed },
    mailbox: mailbox ? { ...NEUTRAL_FINDING, ...mailbox } : null,
  } as Signals;
  return { signals, catchAllConfidence: catchAllConfidence ?? null };
};
