import type { ProviderLimits } from "../mail-provider-table.ts";
import type { RecipientResult, SessionPlan, SessionResult } from "./session.ts";

/** The state of a session. `results` follows the order of the plan's recipients, without a gap. */
export type SessionState = {
  readonly plan: SessionPlan;
  readonly extensions: readonly string[];
  readonly pipelines: boolean;
  readonly results: RecipientResult[];
  readonly unknownRecipients: string[];
  readonly catchAllProbes: SessionResult["catchAllProbes"][number][];
  readonly pendingProbes: Set<string>;
  /** The number of the guess at the next recipient's address; 0 is the plan's own recipient. */
  guess: number;
  /** The provider's limits, or the lower limits that this server has shown. */
  readonly limits: { -readonly [Name in keyof TransactionLimits]: TransactionLimits[Name] };
  transaction: Transaction | null;
  /** True once a reply was about a recipient, so the others no longer share one outcome. */
  wasTried: boolean;
  /** True once a recipient was deferred: further recipients, and their random recipients, will be deferred, too. */
  hasDeferred: boolean;
  isEnding: boolean;
  recipients: number;
  rejections: number;
  refusalsOfUs: number;
  window: number;
};

export type TransactionLimits = Pick<
  ProviderLimits,
  "recipientsPerTransaction" | "oneDomainPerTransaction"
>;

/** The open transaction. `domain` is that of its first recipient. `isFull` says that the server accepts no further recipient. */
export type Transaction = {
  readonly utf8: boolean;
  readonly domain: string;
  recipients: number;
  isFull: boolean;
};

export type Question = {
  readonly kind: "recipient" | "random";
  readonly address: string;
  readonly domain: string;
};

/** The window grows by one with each accepted recipient: a server that only claims to pipeline fails early. */
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

/** Tells whether the session asks about a random recipient after an acceptance: no question about the domain came before. */
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
