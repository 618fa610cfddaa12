import { isPublicIp } from "../mail/ip.ts";
import type { HostAttempt, SessionOutcome } from "../mail/smtp/connect.ts";

/** So many different servers that cannot be reached, and none that can: then it is our own way out. */
const UNREACHED_HOSTS_MIN = 5;
const UNREACHED_FAULTS = new Set(["connect_timeout", "unreachable"]);

/**
 * Whether port 25 is open to us at all. Most networks close it, and every probe then ends in a time-out; that is one
 * fact about us, and not a thousand about other people's servers.
 */
export const createEgressHealth = () => {
  const unreached = new Set<string>();
  let reached = false;

  const recordAttempt = ({ ip, host, result }: HostAttempt): void => {
    if (reached || !isPublicIp(ip, [])) return;
    const reply = result.ending?.stage === "connect" ? result.ending.reply : null;
    if (typeof reply === "string" && UNREACHED_FAULTS.has(reply)) unreached.add(host);
    // Refused or silent, somebody was there.
    else reached = true;
  };

  return {
    recordAttempt: ({ attempts }: SessionOutcome): void => attempts.forEach(recordAttempt),
    isClosed: (): boolean => !reached && unreached.size >= UNREACHED_HOSTS_MIN,
  };
};

export type EgressHealth = ReturnType<typeof createEgressHealth>;
