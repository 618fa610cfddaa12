import { isPublicIp } from "../mail/ip.ts";
import type { Attempt, Tried } from "../mail/smtp/connect.ts";

/** So many different servers that cannot be reached, and none that can: then it is our own way out. */
const HOSTS_TO_TELL = 5;
const NO_WAY = new Set(["connect_timeout", "unreachable"]);

/**
 * Whether port 25 is open to us at all. Most networks close it, and every probe then ends in a time-out; that is one
 * fact about us, and not a thousand about other people's servers.
 */
export const egressWatch = () => {
  const unreached = new Set<string>();
  let reached = false;

  const note = ({ ip, host, result }: Attempt): void => {
    if (reached || !isPublicIp(ip, [])) return;
    const heard = result.ending?.stage === "connect" ? result.ending.heard : null;
    if (typeof heard === "string" && NO_WAY.has(heard)) unreached.add(host);
    // Refused or silent, somebody was there.
    else reached = true;
  };

  return {
    note: ({ attempts }: Tried): void => attempts.forEach(note),
    isClosed: (): boolean => !reached && unreached.size >= HOSTS_TO_TELL,
  };
};

export type EgressWatch = ReturnType<typeof egressWatch>;
