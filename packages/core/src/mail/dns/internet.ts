import { cachedDns } from "./cached.ts";
import type { Dns } from "./dns.ts";

const EVERYBODYS = "com";
/** Enough for what is asked here, which is one question. */
const ONE_ENTRY_BYTES = 64_000;
/** Never exists, whoever is asked (RFC 6761 §6.4). */
const NEVER_THERE = /(?:^|\.)invalid$/i;

/**
 * A resolver that denies `com` itself does not ask the internet: it knows the names of one company, or of a network
 * that is shut. "No such domain" from its mouth would make the addresses of the whole world invalid.
 */
export const ofTheInternet = (dns: Dns, now: () => Date): Dns => {
  const kept = cachedDns(dns, { now, bytesMax: ONE_ENTRY_BYTES });
  return async (type, name) => {
    const outcome = await dns(type, name);
    if (outcome.kind !== "nxdomain" || NEVER_THERE.test(name)) return outcome;
    const { kind } = await kept("NS", EVERYBODYS);
    return kind === "nxdomain" ? { kind: "refused" } : outcome;
  };
};
