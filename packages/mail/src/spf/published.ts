import type { DnsOutcome } from "../dns/dns.ts";
import { isSpf } from "./parse.ts";

export type SpfTrouble = "servfail" | "refused" | "timeout" | "too_large" | "internal";

/** The policy in a domain's TXT records (RFC 7208 §4.4 and §4.5). */
export type PublishedSpf =
  | { readonly kind: "record"; readonly text: string }
  | { readonly kind: "several"; readonly texts: readonly string[] }
  | { readonly kind: "none" | "nxdomain" }
  | { readonly kind: SpfTrouble };

export const findPublished = (outcome: DnsOutcome<string>): PublishedSpf => {
  if (outcome.kind === "nodata") return { kind: "none" };
  if (outcome.kind !== "ok") return { kind: outcome.kind };
  const [text, ...others] = outcome.records.filter(isSpf);
  if (text === undefined) return { kind: "none" };
  return others.length > 0
    ? { kind: "several", texts: [text, ...others] }
    : { kind: "record", text };
};
