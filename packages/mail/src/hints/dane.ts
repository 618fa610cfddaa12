import { type Dns, getRecords, isAbsent } from "../dns/dns.ts";
import type { Issue } from "../issue.ts";
import { joinNames } from "../issue-rules.ts";
import { LOOKED_UP_MAX } from "../mx/targets.ts";
import { createHint } from "./rules.ts";

type DaneInput = {
  readonly domain: string;
  readonly mxHosts: readonly string[];
};

/**
 * Checks whether a domain is signed (DNSSEC), and whether its mail hosts pin their keys (DANE, RFC 7672). Senders rely on TLSA records only
 * when these, and the MX records that name the host, are validated.
 */
export const findDaneHints = async (
  dns: Dns,
  { domain, mxHosts }: DaneInput,
): Promise<readonly Issue[]> => {
  const hosts = [...new Set(mxHosts)].slice(0, LOOKED_UP_MAX);
  const [isSigned, outcomes] = await Promise.all([
    findSigned(dns, domain),
    Promise.all(hosts.map(async (host) => ({ host, tlsa: await dns("TLSA", toTlsaName(host)) }))),
  ]);
  const pick = (holds: (tlsa: (typeof outcomes)[number]["tlsa"]) => boolean): readonly string[] =>
    outcomes.filter(({ tlsa }) => holds(tlsa)).map(({ host }) => host);
  const pinned = pick(({ kind }) => kind === "ok");
  if (pinned.length === 0) {
    if (isSigned === false) return [createHint("DNSSEC_MISSING", { domain })];
    const isNone = hosts.length > 0 && outcomes.every(({ tlsa }) => isAbsent(tlsa));
    return isSigned && isNone ? [createHint("DANE_MISSING", { domain })] : [];
  }

  const host = joinNames(pinned);
  const unusable = pick((tlsa) => tlsa.kind === "ok" && !getRecords(tlsa).some(isUsable));
  if (unusable.length > 0) return [createHint("DANE_BAD", { domain, host: joinNames(unusable) })];
  const unsigned = [
    ...(isSigned ? [] : [`the MX records of ${domain}`]),
    ...pick((tlsa) => tlsa.kind === "ok" && !tlsa.isAuthentic),
  ];
  if (unsigned.length > 0)
    return [createHint("DANE_UNSIGNED", { domain, host, at: joinNames(unsigned) })];
  const others = pick(isAbsent);
  return others.length > 0
    ? [createHint("DANE_PARTIAL", { domain, host, others: joinNames(others) })]
    : [createHint("DANE_PRESENT", { domain, host })];
};

const toTlsaName = (host: string): string => `_25._tcp.${host}`;

/**
 * True when the resolver validated the domain's MX records. False when it validates answers about the top-level domain, but not these.
 * Undefined when the resolver may never validate.
 */
const findSigned = async (dns: Dns, domain: string): Promise<boolean | undefined> => {
  const mx = await dns("MX", domain);
  if (mx.kind !== "ok") return undefined;
  if (mx.isAuthentic) return true;
  const parent = await dns("NS", domain.slice(domain.lastIndexOf(".") + 1));
  return parent.kind === "ok" && parent.isAuthentic ? false : undefined;
};

const TLSA = /^(\d+) (\d+) (\d+) ([\da-f]+)$/;
/** The length of a hash in hexadecimal, by matching type (RFC 6698 §2.1.3); type 0 holds the unhashed certificate or key. */
const HASH_DIGITS = [null, 64, 128];

/** RFC 7672 §3.1.3: only usages 2 and 3 serve mail. */
const isUsable = (record: string): boolean => {
  const [, usage, selector, matchingType, data = ""] = TLSA.exec(record) ?? [];
  const digits = HASH_DIGITS[Number(matchingType)];
  return (
    (usage === "2" || usage === "3") &&
    (selector === "0" || selector === "1") &&
    (digits === null || digits === data.length)
  );
};
