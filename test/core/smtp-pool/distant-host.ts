import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { ReplyOrFault, SmtpConnect } from "@mailproof/mail/smtp/wire";
import { givenWorld } from "../../app/given.ts";

// A mail host that is some milliseconds away, in virtual time. It replies to all commands of one packet at once, as a
// quick server does: what counts is the number of round trips, not the number of replies.

/** What the host knows of the session: the recipients that the transaction has so far. */
export type HostSession = { readonly number: number; readonly taken: readonly string[] };

type Options = {
  readonly host?: string;
  readonly roundTripMs?: number;
  readonly extensions?: readonly string[];
  /** Whether the host hangs up after its reply to the first of several commands. */
  readonly breaksFlights?: boolean;
  readonly rcpt: (recipient: string, session: HostSession) => string;
};

const toReply = (text: string): ReplyOrFault =>
  createReplyReader()(Buffer.from(`${text.replaceAll(" | ", "\r\n")}\r\n`))[0] ?? "closed";

export const givenDistantHost = ({
  host = "mx.example.com",
  roundTripMs = 20,
  extensions = ["PIPELINING"],
  breaksFlights = false,
  rcpt,
}: Options) => {
  const { world, table } = givenWorld();
  const startedAt = world.now().getTime();
  const counts = { sessions: 0, open: 0, peak: 0, flights: 0, severalAtOnce: 0, linesMost: 0 };

  const connect: SmtpConnect = async () => {
    const number = ++counts.sessions;
    counts.peak = Math.max(counts.peak, ++counts.open);
    let taken: string[] | null = null;
    let isOpen = true;
    let isBroken = false;
    const replies: { text: string; atMs: number }[] = [];
    const answer = (line: string): string => {
      if (line.startsWith("EHLO"))
        return ["250-mx", ...extensions.map((name) => `250-${name}`), "250 HELP"].join(" | ");
      if (line.startsWith("MAIL")) {
        if (taken) return "503 5.5.1 nested MAIL";
        taken = [];
        return "250 2.1.0 OK";
      }
      if (line === "QUIT") return "221 bye";
      if (line === "RSET") taken = null;
      const recipient = /^RCPT TO:<(.*)>$/.exec(line)?.[1];
      if (recipient === undefined) return "250 OK";
      if (!taken) return "503 5.5.1 need MAIL";
      const reply = rcpt(recipient, { number, taken });
      if (reply.startsWith("2")) taken.push(recipient);
      return reply;
    };
    const reply = (...texts: string[]): void => {
      const atMs = world.now().getTime() + roundTripMs;
      replies.push(...texts.map((text) => ({ text, atMs })));
    };
    reply("220 mx");
    return {
      send: (...lines) => {
        counts.flights += 1;
        counts.linesMost = Math.max(counts.linesMost, lines.length);
        if (lines.length > 1) counts.severalAtOnce += 1;
        if (!breaksFlights || lines.length === 1) return reply(...lines.map(answer));
        isBroken = true;
        reply(...lines.slice(0, 1).map(answer));
      },
      receive: async (waitMs) => {
        const next = replies.shift();
        if (!next && isBroken) return "closed";
        const ms = next ? next.atMs - world.now().getTime() : waitMs;
        if (ms > 0) await world.sleep(ms);
        return next ? toReply(next.text) : "timeout";
      },
      startTls: async () => "tls_failed",
      close: async () => {
        if (isOpen) counts.open -= 1;
        isOpen = false;
      },
    };
  };

  const smtp = { helo: "probe.example", from: "probe@example.org", port: 25 };
  const catchAllCache = createCatchAllCache(table, world.now);
  const probe = createProbe({ ...world, connect, catchAllCache, smtp });
  const ask = (recipient: string) =>
    probe({
      recipient,
      domain: recipient.slice(recipient.indexOf("@") + 1),
      hosts: [{ host, priority: 10, ips: ["192.0.2.1"] }],
      probeCatchAll: true,
      requester: { account: "a", priority: "list" },
    });

  /** All of them at the same time, and how many a second that makes. */
  const askAll = async (recipients: readonly string[]) => {
    const answers = await Promise.all(recipients.map(ask));
    const seconds = (world.now().getTime() - startedAt) / 1_000;
    return { answers, perSecond: recipients.length / seconds };
  };
  return { ask, askAll, counts, world };
};
