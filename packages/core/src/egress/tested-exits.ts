import type { Dns } from "@mailproof/mail/dns/dns";
import { analyseReverseDns, type ReverseDns } from "@mailproof/mail/dns/reverse-dns";
import type { ServerVisit } from "./server-visits.ts";

/** `unknown`: the check could not decide. */
export type EgressCheckResult = "yes" | "no" | "unknown";

export type TestedExit = {
  readonly exit: string;
  /** The proxy forwards our sessions. Always true for this host itself. */
  readonly isReachable: boolean;
  /** Most of the mail servers are reachable through this exit. */
  readonly port25: EgressCheckResult;
  /** The address that the mail servers report. Null when none reports an address. */
  readonly ip: string | null;
  readonly ptr: string | null;
  /** The PTR record equals the name in EHLO. */
  readonly isHello: EgressCheckResult;
  readonly isForward: EgressCheckResult;
};

export type NamedIp = ReverseDns & { readonly ip: string };

export const nameIps = (dns: Dns, ips: readonly string[]): Promise<readonly NamedIp[]> =>
  Promise.all(ips.map(async (ip) => ({ ip, ...(await analyseReverseDns(dns, ip)) })));

const toResult = (holds: boolean | null): EgressCheckResult =>
  holds === null ? "unknown" : holds ? "yes" : "no";

const isProxyFailure = ({ reply }: ServerVisit): boolean => reply === "proxy_failed";

export const describeExit = (
  exit: string,
  helo: string,
  visits: readonly ServerVisit[],
  named: readonly NamedIp[],
): TestedExit => {
  const own = visits.filter((visit) => visit.exit === exit && visit.isResolved);
  const open = own.filter(({ isOpen }) => isOpen);
  const one = named.find(({ ip }) => own.some(({ observedIps }) => observedIps.includes(ip)));
  const isKnown = one && one.status !== "error";
  return {
    exit,
    isReachable: own.length === 0 || !own.every(isProxyFailure),
    port25: toResult(own.length === 0 ? null : open.length * 2 > own.length),
    ip: one?.ip ?? null,
    ptr: one?.name ?? null,
    isHello: toResult(isKnown ? one.names.includes(helo.toLowerCase()) : null),
    isForward: toResult(one?.isConfirmed ?? null),
  };
};
