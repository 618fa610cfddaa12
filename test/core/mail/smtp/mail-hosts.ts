import type { Connect, Heard, Target, WireFault } from "@mailproof/core/mail/smtp/wire";
import { reply } from "./play.ts";

/** What a pretend mail host does: cannot be connected to, or answers each line; "!" is a fault of the wire. */
export type Behaviour = WireFault | ((said: string | null) => string);

/** A network of such hosts by address, and everything that happened on it. */
export const networkOf = (behaviours: Readonly<Record<string, Behaviour>>) => {
  const log: string[] = [];
  const open = new Set<number>();
  let connections = 0;

  const connect: Connect = async ({ ip, port, host }: Target, { timeoutMs, lane }) => {
    log.push(`connect ${ip}:${port} ${host} ${timeoutMs} ${lane}`);
    const behaviour = behaviours[ip] ?? "connect_refused";
    if (typeof behaviour === "string") return behaviour;

    const id = connections++;
    let said: string | null = null;
    open.add(id);
    return {
      send: (line) => {
        said = line;
        log.push(line);
      },
      receive: async (): Promise<Heard> => {
        const answer = behaviour(said);
        return answer.startsWith("!") ? (answer.slice(1) as WireFault) : reply(answer);
      },
      startTls: async () => (behaviour("(TLS)") === "!tls_failed" ? "tls_failed" : null),
      close: async () => void open.delete(id),
    };
  };
  return { connect, log, open };
};

/** A server that takes everybody in and knows ann. */
export const friendly = (said: string | null): string => {
  if (said === null) return "220 mx";
  if (said.startsWith("RCPT") && !said.includes("<ann@")) return "550 5.1.1 no";
  return said === "QUIT" ? "221 bye" : "250 OK";
};
