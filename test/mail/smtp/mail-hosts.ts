import type { ReplyOrFault, SmtpConnect, SmtpTarget, WireFault } from "@mailproof/mail/smtp/wire";
import { reply } from "./play.ts";

/** What a simulated mail host does: cannot be connected to, or answers each line; "!" is a fault of the wire. */
export type Behaviour = WireFault | ((command: string | null) => string);

/** A network of such hosts by address, and everything that happened on it. */
export const createNetwork = (behaviours: Readonly<Record<string, Behaviour>>) => {
  const log: string[] = [];
  const open = new Set<number>();
  let connections = 0;

  const connect: SmtpConnect = async (
    { ip, port, host }: SmtpTarget,
    { timeoutMs, affinityKey },
  ) => {
    log.push(`connect ${ip}:${port} ${host} ${timeoutMs} ${affinityKey}`);
    const behaviour = behaviours[ip] ?? "connect_refused";
    if (typeof behaviour === "string") return behaviour;

    const id = connections++;
    let command: string | null = null;
    open.add(id);
    return {
      send: (line) => {
        command = line;
        log.push(line);
      },
      receive: async (): Promise<ReplyOrFault> => {
        const answer = behaviour(command);
        return answer.startsWith("!") ? (answer.slice(1) as WireFault) : reply(answer);
      },
      startTls: async () => (behaviour("(TLS)") === "!tls_failed" ? "tls_failed" : null),
      close: async () => void open.delete(id),
    };
  };
  return { connect, log, open };
};

/** A server that takes everybody in and knows ann. */
export const friendly = (command: string | null): string => {
  if (command === null) return "220 mx";
  if (command.startsWith("RCPT") && !command.includes("<ann@")) return "550 5.1.1 no";
  return command === "QUIT" ? "221 bye" : "250 OK";
};
