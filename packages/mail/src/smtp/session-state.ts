import type { ProviderLimits } from "../mail-provider-table.ts";
import type { RecipientResult, SessionPlan, SessionResult } from "./session.ts";

/** How far a session has come. `results` runs along the plan's recipients, without a gap. */
export type SessionState = {
  readonly plan: SessionPlan;
  readonly extensions: readonly string[];
  readonly pipelines: boolean;
  readonly results: RecipientResult[];
  readonly unknownRecipients: string[];
  readonly catchAllProbes: SessionResult["catchAllProbes"][number][];
  /** Domains whose random recipient comes next. */
  readonly pendingProbes: Set<string>;
  /** Which guess at the next recipient's address is tried; 0 is the plan's recipient. */
  guess: number;
  /** The provider's, or what this server has shown that it takes. */
  readonly limits: { -readonly [Name in keyof TransactionLimits]: TransactionLimits[Name] };
  transaction: Transaction | null;
  /** A reply was about a recipient, so the others have no outcome in common. */
  wasTried: boolean;
  /** A recipient was deferred: others will be, and their random recipients, too. */
  hasDeferred: boolean;
  isEnding: boolean;
  /** Sent in RCPT, without the random ones. */
  recipients: number;
  rejections: number;
  /** In a row. */
  refusalsOfUs: number;
  /** The most recipients of a flight. */
  window: number;
};

export type TransactionLimits = Pick<
  ProviderLimits,
  "recipientsPerTransaction" | "oneDomainPerTransaction"
>;

/** The open transaction. `domain` is that of its first recipient. `isFull`: the server accepts no further ones. */
export type Transaction = {
  readonly utf8: boolean;
  readonly domain: string;
  recipients: number;
  isFull: boolean;
};

/** What the server is asked about in one RCPT. */
export type Question = {
  readonly kind: "recipient" | "random";
  readonly address: string;
  readonly domain: string;
};

/** It grows by one with every recipient that is accepted: a server that only claims to pipeline shows it at once. */
const FIRST_WINDOW = 2;

export const createSessionState = (
  plan: SessionPlan,
  { extensions }: Pick<SessionResult, "extensions">,
): SessionState => ({
  plan,
  extensions,
  pipelines: extensions.includes("PIPELINING") && plan.pipelining !== false,
  results: [],
  unknownRecipients: [],
  catchAllProbes: [],
  pendingProbes: new Set(),
  guess: 0,
  limits: { ...plan.limits },
  transaction: null,
  wasTried: false,
  hasDeferred: false,
  isEnding: false,
  recipients: 0,
  rejections: 0,
  refusalsOfUs: 0,
  window: FIRST_WINDOW,
});

export const hasMore = ({ plan, results }: SessionState): boolean =>
  results.length < plan.recipients.length;

export const isSupported = ({ extensions }: SessionState, address: string): boolean =>
  !needsUtf8(address) || extensions.includes("SMTPUTF8");

export const needsUtf8 = (address: string): boolean => /\P{ASCII}/u.test(address);

export const listFallbacks = ({ fallbacks }: SessionPlan, at: number): readonly string[] =>
  fallbacks?.byRecipient[at] ?? [];

/** Whether a random recipient follows an acceptance, and none of the domain is asked about before. */
export const needsProbe = (
  { plan, catchAllProbes, pendingProbes }: SessionState,
  domain: string,
  questions: readonly Question[] = [],
): boolean =>
  plan.randomRecipients.has(domain) &&
  !pendingProbes.has(domain) &&
  catchAllProbes.every((probe) => probe.domain !== domain) &&
  questions.every((question) => question.domain !== domain);

export const createTransaction = ({ address, domain }: Question): Transaction => ({
  utf8: needsUtf8(address),
  domain,
  recipients: 0,
  isFull: false,
});
