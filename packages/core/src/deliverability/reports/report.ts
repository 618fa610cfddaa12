import { WEAKER_POLICY } from "@mailproof/mail/dmarc/discover";
import type { DmarcPolicy } from "@mailproof/mail/dmarc/record";
import type { ReportNote } from "./report-notes.ts";

// The stored form of a report: sums for each sending address, without data about single messages.

/** The receiver's action on a message. `pass`: RFC 9990, for messages that passed. `unknown`: the report does not state it. */
export const DISPOSITIONS = ["none", "pass", "quarantine", "reject", "unknown"] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

/** The reasons of RFC 7489 and RFC 9990 for which a receiver does not apply the policy. */
export const OVERRIDE_REASONS = [
  "forwarded",
  "local_policy",
  "mailing_list",
  "other",
  "policy_test_mode",
  "sampled_out",
  "trusted_forwarder",
] as const;
export type OverrideReason = (typeof OVERRIDE_REASONS)[number];

export type Sums<K extends string = string> = Readonly<Partial<Record<K, number>>>;

export type SourceSums = {
  /** The name of the address, which resolves back to it. Absent when no name is stored. */
  readonly host?: string;
  /** Null for the sum of the addresses beyond the largest ones. */
  readonly ip: string | null;
  readonly messages: number;
  readonly aligned: number;
  readonly spfAligned: number;
  readonly dkimAligned: number;
  /** Not aligned, but the receiver knows that the message was forwarded or came through a list. */
  readonly forwarded: number;
  /** The messages that appear only in reports that any host may have sent. Absent when none do. */
  readonly unauthenticated?: number;
  readonly dispositions: Sums<Disposition>;
  readonly reasons: Sums<OverrideReason>;
  readonly authenticated: Sums;
};

/** The policy that the receiver found. Null when the report does not state it. */
export type PublishedPolicy = {
  readonly p: DmarcPolicy | null;
  readonly sp: DmarcPolicy | null;
  readonly np: DmarcPolicy | null;
  readonly pct: number | null;
  readonly isTesting: boolean;
  readonly discoveryMethod: "psl" | "treewalk" | null;
};

/** Returns the policy that the record requested, weakened by its test mode. Null when the report does not state it. */
export const getReportedPolicy = ({
  p,
  isTesting,
}: Pick<PublishedPolicy, "p" | "isTesting">): DmarcPolicy | null =>
  p !== null && isTesting ? WEAKER_POLICY[p] : p;

type ReportHead = {
  readonly reporter: string;
  readonly reportId: string;
  readonly domain: string;
  readonly begin: Date;
  readonly end: Date;
  readonly rows: number;
  /** Absent when the report contains no faults. */
  readonly notes?: readonly ReportNote[];
};

export type DmarcReport = ReportHead & {
  readonly type: "dmarc";
  readonly policy: PublishedPolicy;
  readonly sources: readonly SourceSums[];
};

export const TLS_POLICY_TYPES = ["sts", "tlsa", "no-policy-found"] as const;
export type TlsPolicyType = (typeof TLS_POLICY_TYPES)[number];

export type TlsPolicySums = {
  readonly policy: TlsPolicyType;
  readonly succeeded: number;
  readonly failed: number;
  /** Sessions by the type of failure, such as "certificate-expired". */
  readonly failures: Sums;
};

export type TlsReport = ReportHead & {
  readonly type: "tls";
  readonly policies: readonly TlsPolicySums[];
};

export type Report = DmarcReport | TlsReport;

/** Returns the day that contains the middle of the report's range, since a range may start at any hour. */
export const getReportDay = ({ begin, end }: Pick<Report, "begin" | "end">): string =>
  new Date((begin.getTime() + end.getTime()) / 2).toISOString().slice(0, 10);

export const countMessages = (report: Report): number =>
  report.type === "dmarc"
    ? report.sources.reduce((sum, { messages }) => sum + messages, 0)
    : report.policies.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0);
