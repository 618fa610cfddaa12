import { isPublicIp } from "@mailproof/mail/ip";
import type { HostAttempt, SessionOutcome } from "@mailproof/mail/smtp/connect";

/** When this many servers cannot be reached, and no other can, our own egress is closed. */
const UNREACHED_HOSTS_MIN = 5;
const UNREACHED_FAULTS = new Set(["connect_timeout", "unreachable"]);

/**
 * Whether outbound port 25 is open. Most networks block it, and every probe then ends in a time-out: that is one fact
 * about our network, and no evidence about the servers.
 */
export const createEgressHealth = () => {
  const unreached = new Set<string>();
  let reached = false;

  const recordAttempt = ({ ip, host, result }: HostAttempt): void => {
    if (reached || !isPublicIp(ip, [])) return;
    const reply = result.ending?.stage === "connect" ? result.ending.reply : null;
    if (typeof reply === "string" && UNREACHED_FAULTS.has(reply)) unreached.add(host);
    // A refusal or a silent server proves that the port is open.
    else reached = true;
  };

  return {
    recordAttempt: ({ attempts }: SessionOutcome): void => attempts.forEach(recordAttempt),
    isClosed: (): boolean => !reached && unreached.size >= UNREACHED_HOSTS_MIN,
  };
};

export type EgressHealth = ReturnType<typeof createEgressHealth>;
