import { cacheDns } from "./cache.ts";
import type { Dns } from "./dns.ts";

const PUBLIC_ZONE = "com";
/** Enough for the single query of this check. */
const ONE_ENTRY_BYTES = 64_000;
/** Never exists, at any resolver (RFC 6761 §6.4). */
const RESERVED_NAME = /(?:^|\.)invalid$/i;

/**
 * A resolver that denies `com` itself does not ask the internet: it knows the names of one company, or of a network
 * that is shut. "No such domain" from its mouth would make the addresses of the whole world invalid.
 */
export const rejectPrivateResolver = (dns: Dns, now: () => Date): Dns => {
  const cached = cacheDns(dns, { now, bytesMax: ONE_ENTRY_BYTES });
  return async (type, name) => {
    const outcome = await dns(type, name);
    if (outcome.kind !== "nxdomain" || RESERVED_NAME.test(name)) return outcome;
    const { kind } = await cached("NS", PUBLIC_ZONE);
    return kind === "nxdomain" ? { kind: "refused" } : outcome;
  };
};
