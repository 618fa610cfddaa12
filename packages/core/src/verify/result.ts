import type { RecordedQuery } from "../mail/dns/record-queries.ts";
import type { Lists } from "../mail/lists/lists.ts";
import type { Transcript } from "../mail/smtp/converse.ts";
import type { Reply } from "../mail/smtp/reply.ts";
import type { PersonName } from "../signals/person-name.ts";
import type { RetryCause } from "./retry.ts";

export const STATUSES = [
  "valid",
  "invalid",
  "risky",
  "unknown",
  "catch_all",
  "disposable",
  "role",
  "spam_trap",
] as const;

export type Status = (typeof STATUSES)[number];

/** Whether a domain takes mail for any local part. Never guessed: "no" needs a proof, too. */
export type CatchAll = "yes" | "no" | "undecided" | "not_tested";

/** The result of one address. The API gives its fields their names on the wire. */
export type Verification = {
  readonly email: string;
  readonly status: Status;
  readonly score: number;
  readonly reason: string;
  /** A second finding, where the reason is about something else: a role address may also be full. */
  readonly subStatus: string | null;
  readonly provider: string | null;
  readonly verification: {
    readonly syntaxValid: boolean;
    /** True: proven. Where it is false, `isDomainExistenceDecided` separates "no" from "unknown". */
    readonly domainExists: boolean;
    readonly mxFound: boolean;
    readonly smtpCheck: boolean;
    readonly mailboxExists: boolean;
    readonly catchAll: boolean;
  };
  readonly flags: {
    readonly disposable: boolean;
    readonly roleAccount: boolean;
    readonly freeProvider: boolean;
    readonly spamTrap: boolean;
    readonly honeypot: boolean;
    readonly botGenerated: boolean;
  };
  readonly enrichment: PersonName;
  readonly ai?: {
    readonly typoSuggestion: string | null;
    readonly typoConfidence: number | null;
    /** Null where the domain cannot be a catch-all. */
    readonly catchAllConfidence: number | null;
  };
  readonly evidence?: Evidence;
  /** When another attempt may help: greylisting and busy servers. */
  readonly retry: "later" | "new_connection" | "other_host" | null;
  /** Why a later attempt may find out more. Absent where the result is final, and never stored. */
  readonly retryCause?: RetryCause;
  readonly verifiedAt: string;
};

export type ScorePart = { readonly part: string; readonly points: number };

/** Enough to check a verdict by hand. */
export type Evidence = {
  readonly dns: readonly RecordedQuery[];
  readonly mailHost: string | null;
  readonly ip: string | null;
  readonly reply: Reply | null;
  readonly rule: string | null;
  readonly catchAll: CatchAll;
  readonly transcript: Transcript;
  readonly score: readonly ScorePart[];
  readonly lists: Lists["versions"];
};

/**
 * Whether it is known if the domain exists. A domain that DNS does not have makes the address invalid; under any other
 * status DNS was not queried, or did not answer. This holds for results that earlier releases stored, too.
 */
export const isDomainExistenceDecided = ({
  status,
  verification,
}: Pick<Verification, "status" | "verification">): boolean =>
  verification.domainExists || status === "invalid";

/** Each result is found out whole. The caller gets the optional parts that its request names. */
export const trimResult = (
  { ai, evidence, ...required }: Verification,
  {
    includeAi,
    includeEvidence,
  }: { readonly includeAi: boolean; readonly includeEvidence: boolean },
): Verification => ({
  ...required,
  ...(includeAi && ai && { ai }),
  ...(includeEvidence && evidence && { evidence }),
});

/** The reason where a mail server could have been asked and was not: the request or the rules exclude it. */
export const NOT_PROBED = "not_probed";
/** The reason where the mail host or the domain has reached its daily limit (`daily-limits.ts`). */
export const HOST_DAILY_LIMIT = "host_daily_limit";

/** Why a mail server was not asked. */
const NOT_PROBED_REASONS: ReadonlySet<string | null> = new Set([NOT_PROBED, HOST_DAILY_LIMIT]);

/** Only the mail server could have decided, and it was not asked: such a result costs nothing. */
export const isNotProbed = ({ status, reason }: Pick<Verification, "status" | "reason">): boolean =>
  status === "unknown" && NOT_PROBED_REASONS.has(reason);

/** The checks that need the mail server, where it was not asked. */
export const listSkippedChecks = ({
  reason,
  subStatus,
}: Pick<Verification, "reason" | "subStatus">): readonly MailServerCheck[] =>
  NOT_PROBED_REASONS.has(reason) || NOT_PROBED_REASONS.has(subStatus) ? MAIL_SERVER_CHECKS : [];

const MAIL_SERVER_CHECKS = ["smtpCheck", "mailboxExists", "catchAll"] as const;
export type MailServerCheck = (typeof MAIL_SERVER_CHECKS)[number];

/** Something broke on our side, and no server or zone had a part in it: no account pays for that. */
export const isOurFailure = ({ reason }: Pick<Verification, "reason">): boolean =>
  reason === "internal";
