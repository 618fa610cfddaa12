import { isSpf } from "../mail/dmarc/record.ts";
import type { Dns } from "../mail/dns/dns.ts";
import type { Issue } from "../mail/issue.ts";

/** What the score needs to know of a domain's SPF. */
export type SpfAnalysis = {
  readonly status: "pass" | "warn" | "fail" | "missing" | "error";
  readonly record: string | null;
  readonly score: number | null;
  readonly issues: readonly Issue[];
};

export type AnalyseSpf = (
  dns: Dns,
  input: { readonly domain: string; readonly sendingIp: string | null },
) => Promise<SpfAnalysis>;

/** Whom a domain's SPF takes over, read from its TXT records. A macro in a name is not a name. */
export const includesIn = (texts: readonly string[]): readonly string[] =>
  texts
    .filter(isSpf)
    .flatMap((text) => text.split(/\s+/))
    .flatMap((term) => /^[+?~-]?(?:include:|redirect=)([^%\s]+)$/i.exec(term)?.[1] ?? []);

/** A record that lets nobody send: "v=spf1 -all" and nothing else. */
export const sendsNothing = (record: string | null): boolean =>
  /^v=spf1\s+-all\s*$/i.test(record ?? "");
