import { WITNESS_REFUSED } from "@mailproof/mail/smtp/reply-rules/witness";
import { HOUR_MS, MINUTE_MS } from "../lib/time.ts";
import { HOST_DAILY_LIMIT, PROBE_POLICY, WAITING_FOR_PROVIDER } from "../smtp-pool/results.ts";

// Decides which causes are ours. Every paid operation reads this table: verify, form, batch, file and find. (A check only
// queries DNS; `own-faults.ts` gives it the outcome `internal`.)

/** The reason when the request excludes the mail server. The result is paid. */
export const NOT_PROBED = "not_probed";
/** The reason when the visitor proved control of the address. The result is paid. */
export const CONTROLLED = "controlled" as const;
/** The reason when the address contains an IP address instead of a domain: a client could use it to reach hosts of its choice. */
export const ADDRESS_LITERAL = "address_literal";

/** The reasons of mail servers that refuse us, whichever the recipient: our IP address, our name, our sender or our rate. */
export const REFUSAL_REASONS = [
  "rate_limited",
  "directory_harvest",
  "ip_blocked",
  WITNESS_REFUSED,
  "ip_reputation",
  "missing_ptr",
  "sender_auth_failed",
  "sender_blocklisted",
  "sender_rejected",
] as const;

export type FreeReason = "not_probed" | "not_reached";

type OwnCause = {
  /**
   * `not_probed`: our limits or rules exclude the mail server. `not_reached`: our address, our exit or our closed port
   * prevented the session. Both give an `unknown` result with the findings of DNS and lists. `failed`: nothing was found out,
   * so a waiting caller gets 503 instead of a result.
   */
  readonly as: FreeReason | "failed";
  /** A search has no result without its mail server: the sentence of its 503. Absent when a repeat would end the same way. */
  readonly search?: string;
  readonly retryAfterMs?: number;
};

const REFUSED: OwnCause = {
  as: "not_reached",
  search: "The domain's mail server refuses sessions from this service now.",
  retryAfterMs: 15 * MINUTE_MS,
};

/** Causes on the recipient's side are not in this table: the verification was carried out, so it is paid. */
const OWN_CAUSES: Readonly<Record<string, OwnCause>> = {
  internal: { as: "failed", search: "The search failed on our side." },
  [WAITING_FOR_PROVIDER]: {
    as: "not_probed",
    search: "All connections to the domain's mail provider are in use.",
    retryAfterMs: MINUTE_MS,
  },
  [HOST_DAILY_LIMIT]: {
    as: "not_probed",
    search: "The domain's mail server has reached its limit for today (UTC).",
    retryAfterMs: HOUR_MS,
  },
  [PROBE_POLICY]: { as: "not_probed" },
  [ADDRESS_LITERAL]: { as: "not_probed" },
  ...Object.fromEntries(REFUSAL_REASONS.map((reason) => [reason, REFUSED])),
  no_smtp_egress: {
    as: "not_reached",
    search: "This service cannot reach mail servers now: port 25 is closed.",
    retryAfterMs: HOUR_MS,
  },
  proxy_failed: {
    as: "not_reached",
    search: "The exit of this service to mail servers does not work now.",
    retryAfterMs: MINUTE_MS,
  },
};

/** Undefined when the result is paid. A result that our circuit breaker withheld is free. */
export const findOwnCause = (result: UnpaidResult): OwnCause | undefined => {
  const reason = getReasonForNoReply(result);
  if (reason === null) return undefined;
  const cause = Object.hasOwn(OWN_CAUSES, reason) ? OWN_CAUSES[reason] : undefined;
  return cause ?? (result.isWithheld ? REFUSED : undefined);
};

/** A role address has a status without a reply, so `subStatus` contains the reason for the missing reply. Null when a verdict exists. */
const getReasonForNoReply = ({ status, reason, subStatus }: UnpaidResult): string | null => {
  if (status === "unknown") return reason;
  return status === "role" && subStatus !== undefined ? subStatus : null;
};

/** Null when the result is paid, or no result exists. */
export const findFreeReason = (result: UnpaidResult): FreeReason | null => {
  const as = findOwnCause(result)?.as ?? "failed";
  return as === "failed" ? null : as;
};

/** True when nothing was found out, through our fault alone. */
export const isOurFailure = (result: UnpaidResult): boolean =>
  findOwnCause(result)?.as === "failed";

export const NOT_PROBED_REASONS: ReadonlySet<string | null> = new Set([
  NOT_PROBED,
  CONTROLLED,
  HOST_DAILY_LIMIT,
  PROBE_POLICY,
  ADDRESS_LITERAL,
]);

export type UnpaidResult = {
  readonly status: string;
  readonly reason: string;
  readonly subStatus?: string | null;
  readonly isWithheld?: boolean;
};
