import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import { type Cidr, isInBlock, parseIp } from "@mailproof/mail/ip";
import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import type { Lists } from "@mailproof/mail/lists/lists";
import { findMailProvider } from "@mailproof/mail/mail-providers";
import { getProbeMode, NO_POLICY, type ProbePolicy } from "@mailproof/mail/probe-policy";
import { limitTime } from "../lib/limit-time.ts";
import { toEpochSeconds } from "../lib/time.ts";
import type { Item, Key, Table } from "../ports/table.ts";
import { toSlotKey } from "./slots/slots.ts";

// The number of questions to one mail host and to one domain in a day, from all accounts together. Beyond the limit the result
// is `unknown` with the reason `host_daily_limit`, without a question to the host and without a charge.
//
// Layout. Counts are added up in steps, so they cost few writes and no reads.
//
//   pk                  sk            what
//   ASKED#<subject>     <yyyy-mm-dd>  unknown, recipients: of all accounts; unknown_<account>, recipients_<account>
//
// A subject is DOMAIN#<recipient domain>, HOST#<address of a mail host> or PROVIDER#<mail provider>.

/** Per day (UTC). `unknown`: recipients that the server replied do not exist. `recipients`: all recipients in RCPT TO. */
export type DailyLimits = { readonly unknown: number; readonly recipients: number };

export const DAILY_LIMITS = {
  /**
   * To guess the addresses of a company takes thousands of unknown recipients; an honest list has few at one company.
   * Domains of free mail providers have no limit of their own: a large list has thousands of dead addresses there.
   */
  domain: { unknown: 5_000, recipients: Number.POSITIVE_INFINITY },
  /**
   * One IP address, which may be a hoster's with thousands of domains: 14 unknown recipients a minute are nothing to a
   * hoster and bearable for a small server, and a million recipients are two of the largest files.
   */
  host: { unknown: 20_000, recipients: 1_000_000 },
  /**
   * Large providers have rate limits of their own (`mail-provider-table.ts`). This one protects our reputation: a file of 500,000
   * addresses of which half do not exist uses an eighth.
   */
  provider: { unknown: 2_000_000, recipients: Number.POSITIVE_INFINITY },
} as const satisfies Record<string, DailyLimits>;

/** A tenth of a mail host's limit, for a provider under the policy `careful`. */
const CAREFUL_LIMITS: DailyLimits = {
  unknown: DAILY_LIMITS.host.unknown / 10,
  recipients: DAILY_LIMITS.host.recipients / 10,
};

/** One account may use half of each limit, so it cannot close a mail host to all other accounts. */
const ACCOUNT_SHARE = 0.5;

/**
 * The number of steps in which a limit is counted. What a session adds is rounded at random, so the sum is right on
 * average with any number of processes (within 6 % at the limit), and a subject costs about this many writes a day.
 */
const STEPS = 250;
const RETENTION_SECONDS = 2 * 86_400;
/** Reached limits that this process remembers; it finds a forgotten one again after a step. */
const REMEMBERED_MAX = 50_000;

/** The increase of the counts by one result. */
export type ProbeCount = {
  readonly account: string;
  readonly domain: string;
  /** The host that replied. */
  readonly at: MailHost | undefined;
  readonly unknown: number;
  readonly recipients: number;
};

export type DailyQuota = {
  /** Answers from this process's memory, without a read. */
  readonly isReached: (account: string, domain: string, at: MailHost | undefined) => boolean;
  /** Never rejects. */
  readonly add: (probes: readonly ProbeCount[]) => Promise<void>;
};

export const NO_QUOTA: DailyQuota = { isReached: () => false, add: async () => undefined };

type QuotaPorts = {
  readonly table: Table;
  readonly now: () => Date;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly lists: Pick<Lists, "free">;
  /** Networks without daily limits, such as the lab's. */
  readonly allowed: readonly Cidr[];
  readonly probePolicy?: ProbePolicy | undefined;
};

type QuotaSubject = { readonly name: string; readonly limits: DailyLimits };
type SubjectCounts = { readonly limits: DailyLimits; readonly byAccount: Map<string, DailyLimits> };

export const createDailyQuota = (ports: QuotaPorts): DailyQuota => {
  const table = limitTime(ports.table, ports);
  const reached = createBoundedMap<string>({ weightMax: REMEMBERED_MAX });
  const today = (): string => ports.now().toISOString().slice(0, 10);

  const markReached = (name: string): void => reached.set(name, today());

  const isReached: DailyQuota["isReached"] = (account, domain, at) => {
    if (reached.isEmpty()) return false;
    const day = today();
    return listSubjects(ports, domain, at).some(
      ({ name }) => reached.get(name) === day || reached.get(toAccountKey(name, account)) === day,
    );
  };

  const addTo = async (name: string, { limits, byAccount: of }: SubjectCounts): Promise<void> => {
    const add = roundToSteps(limits, of, ports.random);
    if (Object.keys(add).length === 0) return;
    const key: Key = { pk: `ASKED#${name}`, sk: today() };
    const set = { expires_at: toEpochSeconds(ports.now()) + RETENTION_SECONDS };
    // When the table fails or is late, the probes are not counted, and no verdict is delayed.
    const write = table.write({ update: key, add, set, orCreate: true });
    const written = await write.catch(() => undefined);
    if (written?.outcome !== "committed" || !written.item) return;
    if (isOverLimit(written.item, limits)) markReached(name);
    for (const account of of.keys())
      if (isOverLimit(written.item, limits, account)) markReached(toAccountKey(name, account));
  };

  const add: DailyQuota["add"] = async (probes) => {
    const sums = new Map<string, SubjectCounts>();
    for (const one of probes)
      for (const subject of listSubjects(ports, one.domain, one.at)) addUp(sums, subject, one);
    await Promise.all([...sums].map(([name, counts]) => addTo(name, counts)));
  };

  return { isReached, add };
};

const toAccountKey = (name: string, account: string): string => `${name} ${account}`;

const listSubjects = (
  { lists, allowed, probePolicy = NO_POLICY }: QuotaPorts,
  domain: string,
  at: MailHost | undefined,
): readonly QuotaSubject[] => {
  if (!at || isAllowed(at, allowed)) return [];
  const provider = findMailProvider(at.host).name;
  const host: QuotaSubject =
    provider === "other"
      ? { name: `HOST#${toSlotKey(at).providerKey}`, limits: DAILY_LIMITS.host }
      : { name: `PROVIDER#${provider}`, limits: getProviderLimits(probePolicy, at) };
  if (lists.free(domain)) return [host];
  return [{ name: `DOMAIN#${domain}`, limits: DAILY_LIMITS.domain }, host];
};

const getProviderLimits = (policy: ProbePolicy, at: MailHost): DailyLimits =>
  getProbeMode(policy, [at]) === "careful" ? CAREFUL_LIMITS : DAILY_LIMITS.provider;

const isAllowed = ({ ips }: MailHost, allowed: readonly Cidr[]): boolean =>
  allowed.length > 0 &&
  ips.every((text) => {
    const ip = parseIp(text);
    return ip !== undefined && allowed.some((block) => isInBlock(ip, block));
  });

const KINDS = ["unknown", "recipients"] as const;

const addUp = (
  sums: Map<string, SubjectCounts>,
  { name, limits }: QuotaSubject,
  one: ProbeCount,
): void => {
  const counts = sums.get(name) ?? { limits, byAccount: new Map<string, DailyLimits>() };
  sums.set(name, counts);
  const before = counts.byAccount.get(one.account) ?? { unknown: 0, recipients: 0 };
  counts.byAccount.set(one.account, {
    unknown: before.unknown + one.unknown,
    recipients: before.recipients + one.recipients,
  });
};

/** The fields that a write increases; empty when every amount is rounded down. */
const roundToSteps = (
  limits: DailyLimits,
  of: SubjectCounts["byAccount"],
  random: () => number,
): Record<string, number> => {
  const add: Record<string, number> = {};
  for (const [account, counts] of of)
    for (const kind of KINDS) {
      if (counts[kind] === 0 || !Number.isFinite(limits[kind])) continue;
      const step = Math.ceil(limits[kind] / STEPS);
      const amount = Math.floor(counts[kind] / step + random()) * step;
      if (amount === 0) continue;
      add[kind] = (add[kind] ?? 0) + amount;
      add[`${kind}_${account}`] = amount;
    }
  return add;
};

const isOverLimit = (item: Item, limits: DailyLimits, account?: string): boolean =>
  KINDS.some((kind) => {
    const count = Number(item[account === undefined ? kind : `${kind}_${account}`] ?? 0);
    return count >= limits[kind] * (account === undefined ? 1 : ACCOUNT_SHARE);
  });
