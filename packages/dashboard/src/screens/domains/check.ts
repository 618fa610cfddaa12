import type { CheckSummary, GetCheckData } from "@mailproof/client";
import { getClient } from "../../session.ts";

export type Check = GetCheckData;
export type Recommendation = Check["recommendations"][number];
export type Issue = Check["dns"]["issues"][number];

export type Report = {
  readonly check: Check;
  readonly before: Check | null;
  readonly history: readonly CheckSummary[];
};

const HISTORY_MAX = 30;

/** Reads the latest check of a domain and the one before, for free. Null when the domain was never checked. */
export const loadReport = async (domain: string, signal: AbortSignal): Promise<Report | null> => {
  const client = getClient();
  const { checks } = await client.listChecks({ domain, limit: HISTORY_MAX }, { signal });
  const [latest] = checks;
  if (!latest) return null;
  const history = checks.filter((one) => one.sending_ip === latest.sending_ip);
  const earlier = history[1];
  const [check, before] = await Promise.all([
    client.getCheck({ id: latest.check_id }, { signal }),
    earlier ? client.getCheck({ id: earlier.check_id }, { signal }) : null,
  ]);
  return { check, before, history };
};

/** The colour of each status. A check without an answer is never red. */
const TONES: Readonly<Record<string, string>> = {
  pass: "good",
  warn: "warn",
  fail: "bad",
  missing: "bad",
  listed: "bad",
};

export const STATUS_WORDS: Readonly<Record<string, string>> = {
  pass: "fine",
  warn: "could be better",
  fail: "faulty",
  missing: "missing",
  unknown: "not found",
  error: "no answer",
  not_checked: "not checked",
  listed: "listed",
};

export const getTone = (status: string): string => TONES[status] ?? "grey";

export const PART_TITLES: Readonly<Record<string, string>> = {
  dns: "Mail hosts (MX)",
  spf: "SPF",
  dkim: "DKIM",
  dmarc: "DMARC",
  reputation: "Blocklists",
  ptr: "Reverse DNS",
};

export const CAP_REASONS: Readonly<Record<string, string>> = {
  no_domain: "the domain does not exist",
  no_spf_no_dkim: "there is neither SPF nor DKIM",
  listed_gravely: "it is on a critical blocklist",
  no_valid_mx: "it cannot receive mail",
  spf_broken: "its SPF record is broken",
  spf_open: "its SPF record allows any server to send",
  no_dmarc: "there is no DMARC record",
  dmarc_none: "DMARC only monitors",
  dkim_unknown: "no DKIM key was found",
};
