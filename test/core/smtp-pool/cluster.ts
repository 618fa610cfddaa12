import type { Table } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { createCircuitBreaker } from "@mailproof/core/smtp-pool/circuit-breaker/circuit-breaker";
import { createWarmUp } from "@mailproof/core/smtp-pool/exits";
import type { Probe, ProbeResult } from "@mailproof/core/smtp-pool/probe";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import { createSharedSlots } from "@mailproof/core/smtp-pool/slots/slot-pool";
import { toSlotKey } from "@mailproof/core/smtp-pool/slots/slots";
import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import { NO_POLICY } from "@mailproof/mail/probe-policy";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import { DIRECT_EXIT, type ReplyOrFault, type SmtpConnect } from "@mailproof/mail/smtp/wire";
import { givenWorld } from "../../app/given.ts";

/** A server's reply to a line: "" hangs up, and undefined never replies. */
export type ReplyFor = (line: string, session: number, exit?: string) => string | undefined;

export type Session = {
  readonly engine: number;
  readonly provider: string;
  readonly exit: string;
  readonly atMs: number;
};

/** Several processes of ours with one table between them, each with a delay of its own to it and to the servers. */
export const givenCluster = (
  count: number,
  replyFor: ReplyFor,
  {
    seed = 1,
    lag = 20,
    slots = createSharedSlots,
    tableOf = (table: Table) => table,
    comesBack = true,
    exits = [] as readonly string[],
    downExits = [] as readonly string[],
    probePolicy = NO_POLICY,
    newExits = [] as readonly string[],
  } = {},
) => {
  const { world, table, later } = givenWorld(seed);
  const sessions: Session[] = [];
  const open = new Map<string, number>();
  const peaks = new Map<string, number>();
  const stand = (name: string, by: number): void => {
    const now = (open.get(name) ?? 0) + by;
    open.set(name, now);
    peaks.set(name, Math.max(now, peaks.get(name) ?? 0));
  };

  const pause = () => world.sleep(Math.floor(world.random() * lag));
  const connectFrom =
    (engine: number): SmtpConnect =>
    async ({ host, ip }, { exit = DIRECT_EXIT }) => {
      await pause();
      if (downExits.includes(exit)) {
        sessions.push({ engine, provider: "", exit, atMs: world.now().getTime() });
        return "proxy_failed";
      }
      if (host === "mx.down.example") return "connect_refused";
      const { providerKey: operator } = toSlotKey({ host, priority: 10, ips: [ip] });
      const standing = exits.length > 0 ? [operator, `${operator} by ${exit}`] : [operator, host];
      sessions.push({ engine, provider: operator, exit, atMs: world.now().getTime() });
      const session = sessions.length;
      standing.forEach((name) => stand(name, 1));
      let next: string | undefined = greetingOf(replyFor, session, exit);
      let isOpen = true;
      return {
        send: (line) => {
          next = replyFor(line, session, exit);
        },
        receive: async () => {
          await pause();
          if (next === undefined) return new Promise<ReplyOrFault>(() => {});
          return next === "" ? "closed" : replyOf(next);
        },
        startTls: async () => "tls_failed",
        close: async () => {
          if (isOpen) standing.forEach((name) => stand(name, -1));
          isOpen = false;
        },
      };
    };

  const engineAt = (engine: number): Probe => {
    const own = lagging(tableOf(table), pause);
    const ports: Pick<World, "table" | "now" | "random" | "sleep"> = { ...world, table: own };
    const probe = createProbe({
      ...ports,
      connect: connectFrom(engine),
      catchAllCache: createCatchAllCache(table, world.now),
      smtp: { helo: "probe.example", from: "probe@example.org", port: 25 },
      slots: slots(ports),
      probePolicy,
      ...(exits.length > 0 && {
        breaker: createCircuitBreaker({ ...ports, exits }),
        warmUp: createWarmUp({ ...ports, exits: newExits }),
      }),
    });
    return comesBack ? (question) => askUntilAnswered(probe, world, question) : probe;
  };
  const engines = Array.from({ length: count }, (_, engine) => engineAt(engine));
  return { engines, sessions, peaks, open, world, table, later };
};

const greetingOf = (replyFor: ReplyFor, session: number, exit: string): string | undefined =>
  replyFor("", session, exit);

const replyOf = (text: string): ReplyOrFault =>
  createReplyReader()(Buffer.from(`${text}\r\n`))[0] ?? "closed";

/** A distant table: a call takes effect after a delay, and its reply arrives after another. */
const lagging = (table: Table, pause: () => Promise<void>): Table => {
  const far =
    <Args extends unknown[], Value>(call: (...args: Args) => Promise<Value>) =>
    async (...args: Args): Promise<Value> => {
      await pause();
      const result = await call(...args);
      await pause();
      return result;
    };
  return {
    get: far((key) => table.get(key)),
    query: far((query) => table.query(query)),
    write: far((write) => table.write(write)),
    transact: far((writes) => table.transact(writes)),
  };
};

export const hostAt = (host: string, ip = "192.0.2.1", priority = 10): MailHost => ({
  host,
  priority,
  ips: [ip],
});

const RANDOM_RECIPIENT = /<[a-z][a-z0-9]{19}@/;

/** Every recipient but a random one has a mailbox there. */
export const kind: ReplyFor = (line) => {
  if (line === "") return "220 hi";
  return RANDOM_RECIPIENT.test(line) ? "550 5.1.1 no such user" : "250 ok";
};

type Question = Parameters<Probe>[0];

const RETURN_MS_MAX = 15 * 60_000;

/** As a worker does: a row without a slot is attempted again at the time that the result names. */
export const askUntilAnswered = async (
  probe: Probe,
  { now, sleep }: Pick<World, "now" | "sleep">,
  question: Question,
): Promise<ProbeResult> => {
  for (let asked = question; ; ) {
    const answer = await probe(asked);
    const { comeBack } = answer;
    if (!comeBack) return answer;
    const ms = Date.parse(comeBack.at) - now().getTime();
    if (ms > RETURN_MS_MAX) throw new Error(`no message waits for ${ms} ms`);
    await sleep(ms);
    asked = { ...question, ticket: comeBack.ticket };
  }
};

/** Each engine asks about people of its own. */
export const askAll = (
  engines: readonly Probe[],
  each: number,
  hosts: readonly MailHost[] = [hostAt("mx.example.com")],
): Promise<ProbeResult[]> =>
  Promise.all(
    engines.flatMap((probe, engine) =>
      Array.from({ length: each }, (_, n) =>
        probe({
          recipient: `person${engine}-${n}@example.com`,
          domain: "example.com",
          hosts,
          probeCatchAll: true,
        }),
      ),
    ),
  );

export const verdicts = (answers: readonly ProbeResult[]): readonly string[] => [
  ...new Set(answers.map(({ finding }) => `${finding.verdict} ${finding.reason}`)),
];
