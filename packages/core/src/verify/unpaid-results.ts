import { HOST_DAILY_LIMIT, PROBE_POLICY } from "../smtp-pool/unprobed-results.ts";

// Results that no account pays for, and their reasons.

/** The reason where a mail server could have been asked and was not, since the request excludes it. It is paid. */
export const NOT_PROBED = "not_probed";
/** The reason where it was not, since the visitor proved control of the address. It is paid. */
export const CONTROLLED = "controlled" as const;

/** Why a mail server turned us away, whichever the recipient: our IP address, our name, our sender or our pace. */
export const REFUSAL_REASONS = [
  "rate_limited",
  "directory_harvest",
  "ip_blocked",
  "ip_reputation",
  "missing_ptr",
  "sender_auth_failed",
  "sender_blocklisted",
  "sender_rejected",
] as const;

export type FreeReason = "not_probed" | "not_reached";

/**
 * Why results cost nothing, by their reasons. `not_probed`: our limits or rules exclude the mail server. `not_reached`:
 * our address, our exit or our closed port kept us from it. What the recipient's side causes is paid, as a verification
 * that was carried out.
 */
const FREE: Readonly<Record<FreeReason, readonly string[]>> = {
  not_probed: [HOST_DAILY_LIMIT, PROBE_POLICY],
  not_reached: [...REFUSAL_REASONS, "no_smtp_egress", "proxy_failed"],
};

/** Why a mail server was not asked. */
export const NOT_PROBED_REASONS: ReadonlySet<string | null> = new Set([
  NOT_PROBED,
  CONTROLLED,
  ...FREE.not_probed,
]);

/** Null: the result is paid. One that our circuit withheld is not. */
export const findFreeReason = ({ status, reason, isWithheld }: UnpaidResult): FreeReason | null => {
  if (status !== "unknown") return null;
  if (FREE.not_probed.includes(reason)) return "not_probed";
  return isWithheld || FREE.not_reached.includes(reason) ? "not_reached" : null;
};

type UnpaidResult = {
  readonly status: string;
  readonly reason: string;
  readonly isWithheld?: boolean;
};

/** Something broke on our side, and no server or zone had a part in it: no account pays for that. */
export const isOurFailure = ({ reason }: Pick<UnpaidResult, "reason">): boolean =>
  reason === "internal";
