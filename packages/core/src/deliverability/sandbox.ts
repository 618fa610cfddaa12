import { createList } from "@mailproof/mail/blocklists/lists";
import type { DnsOutcome, DnsRecordType, MxRecordData } from "@mailproof/mail/dns/dns";
import type { DnsLookups } from "@mailproof/mail/dns/lookups";
import { parseCidr, parseIp, toReverseName } from "@mailproof/mail/ip";
import type { KeyMode } from "../money/payer.ts";
import type { WithDnsLookups } from "./dns-lookups.ts";
import type { CheckSubject } from "./items.ts";

const ASKS_FOR_REPORTS = "v=DMARC1; p=none; rua=mailto:dmarc@{domain}";

/** The result of a domain under a test key, by its first label. Other domains have no issues. */
export const SANDBOX_SENDERS: Readonly<Record<string, SandboxSender>> = {
  nxdomain: "nxdomain",
  /** A live key would be refunded, because no query gets an answer: UNAVAILABLE. */
  dnsfail: "timeout",
  /** A live key would be refunded, because the check fails on our side: INTERNAL. */
  error: "breaks",
  nomx: { without: "mx" },
  nospf: { without: "spf" },
  nodkim: { without: "dkim" },
  nodmarc: { without: "dmarc" },
  /** A policy that requests nothing of receivers, and an SPF record that ends with a softfail. */
  weak: { spf: "v=spf1 mx ~all", dmarc: "v=DMARC1; p=none" },
  listed: { isListed: true },
  /** With reports of the last 14 days (`reports/sandbox-reports.ts`). */
  ready: { dmarc: ASKS_FOR_REPORTS },
  unaligned: { dmarc: ASKS_FOR_REPORTS },
};

type SandboxSender =
  | "nxdomain"
  | "timeout"
  | "breaks"
  | {
      readonly without?: "mx" | "spf" | "dkim" | "dmarc";
      readonly spf?: string;
      readonly dmarc?: string;
      readonly isListed?: true;
    };

/** An address for documentation (RFC 5737). */
const IP = "192.0.2.1";
const BLOCK = parseCidr("192.0.2.0/24");
const LIST = "blocklist.test";

/** A public key whose private key does not exist. */
const DKIM_KEY =
  "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA5N67T9aqvA3OM0PA0N4mLu8WwSdZXjknWiLkLOrvoLUtmxLFpZYuYG7DDaJ0eN7AKkZeP3yKs+P9ysW9sxi59i6x9qdFUOtIT57p3VJA1WHNr5MUysIWpGguWNuWAJvjTNpyPo6LxigQ/N752SZUe0bHEiScPYFnuI4066kbKkQU+HPFpnndNk33I2ivmCTaWCVpxPhIAjQGWJrGg3Hbz5h68E5E+JSUJSS+HvhSPDnXm1nZBT6MaU85+1bF038kNPf5LjWX9nOOmiWoBz5F8ctj+YeXLZ5q+q22uFQkRDQhTqwPobfhrkyDmdpA39e8Q24vVnl5j/N5iDvMzZfCIQIDAQAB";

type SandboxZone = Readonly<
  Record<string, Partial<Record<DnsRecordType, readonly (string | MxRecordData)[]>>>
>;

/** The DNS of test keys: one domain with constant answers. The analysers are the real ones. */
export const createSandboxLookups = ({ domain, sendingIp }: CheckSubject): DnsLookups => {
  const sender = SANDBOX_SENDERS[domain.split(".")[0] ?? ""] ?? {};
  const zone = typeof sender === "string" ? {} : createZone(domain, sendingIp ?? IP, sender);
  const dns: DnsLookups["dns"] = async (type, name) => {
    if (sender === "breaks") throw new Error("a test key asked for a domain that breaks");
    return sender === "timeout" ? { kind: "timeout" } : findRecords(zone, type, name);
  };
  return {
    dns,
    listDns: dns,
    dkimSelectors: [],
    allowed: BLOCK ? [BLOCK] : [],
    blocklists: { listsFor: () => [createList(LIST)], keys: {}, isHealthy: async () => true },
  };
};

const findRecords = <T>(zone: SandboxZone, type: DnsRecordType, name: string): DnsOutcome<T> => {
  const records = zone[name.toLowerCase()];
  if (records?.[type]) return { kind: "ok", records: records[type] as readonly T[] };
  const isThere = records ?? Object.keys(zone).some((other) => other.endsWith(`.${name}`));
  return { kind: isThere ? "nodata" : "nxdomain" };
};

const createZone = (
  domain: string,
  ip: string,
  { without, spf, dmarc, isListed }: Exclude<SandboxSender, string>,
): SandboxZone => {
  const address = parseIp(ip);
  const host = `mx.${domain}`;
  const reports = `rua=mailto:dmarc@${domain}`;
  return {
    [domain]: {
      NS: [`ns1.${domain}`, `ns2.${domain}`],
      ...(without !== "mx" && { MX: [{ priority: 10, exchange: host }] }),
      ...(without !== "spf" && { TXT: [spf ?? `v=spf1 mx ip4:${ip} -all`] }),
    },
    [host]: { A: [IP] },
    [`out.${domain}`]: { A: [ip] },
    ...(address && { [toReverseName(address)]: { PTR: [`out.${domain}`] } }),
    ...(without !== "dkim" && {
      [`default._domainkey.${domain}`]: { TXT: [`v=DKIM1; k=rsa; p=${DKIM_KEY}`] },
    }),
    ...(without !== "dmarc" && {
      [`_dmarc.${domain}`]: {
        TXT: [dmarc?.replace("{domain}", domain) ?? `v=DMARC1; p=reject; np=reject; ${reports}`],
      },
    }),
    ...(isListed && { [`${ip.split(".").toReversed().join(".")}.${LIST}`]: { A: ["127.0.0.2"] } }),
  };
};

export const selectLookups = (
  { names }: WithDnsLookups,
  mode: KeyMode,
  about: CheckSubject,
): DnsLookups => (mode === "live" ? names : createSandboxLookups(about));
