import type { MessageFinding } from "./findings.ts";
import type { ReportPart } from "./rules/rule.ts";

const RECEIVERS = ["gmail", "yahoo", "microsoft"] as const;

export type RequirementStatus = "met" | "unmet" | "unknown";

export type Requirement = {
  readonly id: string;
  readonly receivers: readonly (typeof RECEIVERS)[number][];
  /** Applies only to bulk senders, with more than about 5,000 messages a day. */
  readonly isForBulk: boolean;
  readonly text: string;
  readonly part: ReportPart;
  readonly unmetBy: readonly string[];
};

const DKIM_INVALID = [
  "DKIM_NONE",
  "DKIM_BODY",
  "DKIM_SIGNATURE",
  "DKIM_KEY_MISSING",
  "DKIM_KEY_REVOKED",
  "DKIM_KEY_BAD",
  "DKIM_KEY_SHORT",
  "DKIM_SHA1",
  "DKIM_EXPIRED",
  "DKIM_MALFORMED",
];

const REQUIREMENTS: Readonly<Record<string, Omit<Requirement, "id">>> = {
  spf: {
    receivers: RECEIVERS,
    isForBulk: true,
    text: "SPF passes.",
    part: "spf",
    unmetBy: ["SPF_NONE", "SPF_FAIL", "SPF_SOFTFAIL", "SPF_NEUTRAL", "SPF_PERMERROR"],
  },
  dkim: {
    receivers: RECEIVERS,
    isForBulk: true,
    text: "The message has a valid DKIM signature.",
    part: "dkim",
    unmetBy: DKIM_INVALID,
  },
  dmarc_record: {
    receivers: RECEIVERS,
    isForBulk: true,
    text: "The domain of From has a DMARC record.",
    part: "dmarc",
    unmetBy: ["DMARC_MISSING", "DMARC_NO_AUTHOR"],
  },
  alignment: {
    receivers: RECEIVERS,
    isForBulk: true,
    text: "The domain of From is aligned with SPF or DKIM.",
    part: "dmarc",
    unmetBy: ["DMARC_FAIL", "DMARC_MISSING", "DMARC_NO_AUTHOR"],
  },
  reverse_dns: {
    receivers: RECEIVERS,
    isForBulk: false,
    text: "The sending IP address has a name that resolves to it.",
    part: "server",
    unmetBy: ["PTR_MISSING", "PTR_MISMATCH"],
  },
  tls: {
    receivers: ["gmail"],
    isForBulk: false,
    text: "The connection is encrypted with TLS.",
    part: "server",
    unmetBy: ["TLS_MISSING"],
  },
  format: {
    receivers: ["gmail", "yahoo"],
    isForBulk: false,
    text: "The message follows RFC 5322: one From, Date, Message-ID, and no field twice that may stand once.",
    part: "header",
    unmetBy: [
      "FROM_MISSING",
      "FROM_SEVERAL",
      "DATE_MISSING",
      "DATE_INVALID",
      "MESSAGE_ID_MISSING",
      "MESSAGE_ID_INVALID",
      "FIELDS_REPEATED",
    ],
  },
  one_click_unsubscribe: {
    receivers: ["gmail", "yahoo"],
    isForBulk: true,
    text: "Marketing mail can be unsubscribed with one click (RFC 8058).",
    part: "header",
    unmetBy: ["UNSUBSCRIBE_MISSING", "UNSUBSCRIBE_NOT_ONE_CLICK", "UNSUBSCRIBE_UNSIGNED"],
  },
};

/** Judges which requirements the message meets. `unjudged` names findings whose check had no answer. */
export const judgeRequirements = (
  findings: readonly MessageFinding[],
  {
    openParts,
    unjudged,
  }: { readonly openParts: readonly ReportPart[]; readonly unjudged: readonly string[] },
): readonly (Pick<Requirement, "id" | "receivers" | "isForBulk" | "text"> & {
  readonly status: RequirementStatus;
})[] =>
  Object.entries(REQUIREMENTS).map(([id, { part, unmetBy, ...row }]) => {
    const requirement = { id, ...row };
    // A DKIM finding of lesser cost means that another signature is valid.
    const isUnmet = findings.some(
      (found) => unmetBy.includes(found.id) && (part !== "dkim" || found.costPoints >= 100),
    );
    if (isUnmet) return { ...requirement, status: "unmet" };
    const isOpen = openParts.includes(part) || unmetBy.some((one) => unjudged.includes(one));
    return { ...requirement, status: isOpen ? "unknown" : "met" };
  });
