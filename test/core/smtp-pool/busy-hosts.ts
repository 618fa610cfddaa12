import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { createDailyQuota } from "@mailproof/core/smtp-pool/daily-limits";
import type { Priority } from "@mailproof/core/smtp-pool/fairness";
import type { ProbeResult } from "@mailproof/core/smtp-pool/probe";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import type { SlotPool } from "@mailproof/core/smtp-pool/slots/slots";
import { createLists } from "@mailproof/mail/lists/lists";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { ReplyOrFault, SmtpConnect } from "@mailproof/mail/smtp/wire";
import { givenWorld } from "../../app/given.ts";

const RANDOM_RECIPIENT = /<[a-z][a-z0-9]{19}@/;
const createReply = (text: string): ReplyOrFault =>
  createReplyReader()(Buffer.from(`${text}\r\n`))[0] ?? "closed";

/** Mail hosts in virtual time. A silent one accepts the connection and never replies. */
export const givenBusyHosts = ({
  replyMs = 100,
  isSilent = (_host: string): boolean => false,
  isUnknown = false,
  hasTime = (): boolean => true,
} = {}) => {
  const { world, table, queue } = givenWorld();
  const startedAt = world.now().getTime();
  const atMs = () => world.now().getTime() - startedAt;
  let open = 0;
  let peak = 0;
  let sessions = 0;
  let named = 0;
  const connect: SmtpConnect = async ({ host }) => {
    if (host === "mx.down.example") return "connect_refused";
    sessions++;
    peak = Math.max(peak, ++open);
    let isOpen = true;
    let next = "220 hello";
    return {
      send: (line) => {
        if (line.startsWith("RCPT")) named++;
        const isRefused = line.startsWith("RCPT") && (isUnknown || RANDOM_RECIPIENT.test(line));
        next = isRefused ? "550 5.1.1 no such user" : "250 ok";
      },
      receive: async (ms) => {
        await world.sleep(isSilent(host) ? ms : replyMs);
        return isSilent(host) ? "timeout" : createReply(next);
      },
      startTls: async () => "tls_failed",
      close: async () => {
        if (isOpen) open--;
        isOpen = false;
      },
    };
  };
  const smtp = { helo: "probe.example", from: "probe@example.org", port: 25 };
  const catchAllCache = createCatchAllCache(table, world.now);
  const quota = createDailyQuota({ ...world, lists: createLists(), allowed: [] });
  let looks = 0;
  const local = createLocalSlots(world);
  const slots: SlotPool = {
    ...local,
    mayAcquire: (slotKey) => {
      looks++;
      return local.mayAcquire(slotKey);
    },
  };
  const probe = createProbe({ ...world, connect, catchAllCache, smtp, quota, slots, hasTime });

  /** In the order of their results. */
  const answered: Answered[] = [];
  const ask = async (
    account: string,
    priority: Priority,
    local: string,
    at: Host,
    waitMs?: number,
  ): Promise<Answered> => {
    const { domain, host, ip } = at;
    const sentMs = atMs();
    const answer = await probe({
      recipient: `${local}@${domain}`,
      domain,
      hosts: [{ host, priority: 10, ips: [ip] }],
      probeCatchAll: true,
      requester: { account, priority },
      waitMs,
    });
    const one = { account, priority, answer, waitedMs: atMs() - sentMs };
    answered.push(one);
    return one;
  };
  const askMany = (account: string, priority: Priority, count: number, at: (n: number) => Host) =>
    Promise.all(
      Array.from({ length: count }, (_, n) => ask(account, priority, `${account}${n}`, at(n))),
    );
  return {
    ask,
    askMany,
    answered,
    atMs,
    world,
    queue,
    table,
    peak: () => peak,
    sessions: () => sessions,
    /** How often the pool looked at a host queue whose turn might have come. */
    looks: () => looks,
    named: () => named,
    probe,
  };
};

export type Host = { readonly domain: string; readonly host: string; readonly ip: string };
type Answered = {
  readonly account: string;
  readonly priority: Priority;
  readonly answer: ProbeResult;
  readonly waitedMs: number;
};

export const ONE_HOST: Host = { domain: "example.com", host: "mx.example.com", ip: "192.0.2.1" };
/** A domain with a host of its own. */
export const ownHost = (n: number): Host => ({
  domain: `d${n}.example`,
  host: `mx.d${n}.example`,
  ip: `198.18.${n >> 8}.${n & 255}`,
});
