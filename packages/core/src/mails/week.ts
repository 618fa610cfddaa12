import { type Account, getAccountStatus, iterateAccounts } from "../accounts/account-items.ts";
import { listMonitors } from "../deliverability/monitor-items.ts";
import { findDomainProgress } from "../deliverability/progress/domain-progress.ts";
import { findSenderService } from "../deliverability/reports/advise.ts";
import { type DatedSource, mergeReports } from "../deliverability/reports/merge-reports.ts";
import { listReportedDomains } from "../deliverability/reports/reported-domains.ts";
import { addMs, DAY_MS, HOUR_MS, toEpochSeconds, toUtcDay } from "../lib/time.ts";
import { getBalance } from "../money/balance.ts";
import { type Halves, toCredits } from "../money/credits.ts";
import { listUsage, sumUsage } from "../money/usage.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import type { Schedule } from "../runtime/worker.ts";
import { listVerdictCounts, sumVerdictCounts } from "../verify/verdict-counts.ts";
import { ALL_LETTERS, createMail, toLetterKey } from "../webhooks/mail-items.ts";
import type { WeekDomain, WeekFacts } from "./texts.ts";

// The Monday letter. The schedule runs each hour and queues the letter of each account once; a worker reads its facts.

/** Mondays at 07:00 UTC: 1970 began on a Thursday. */
const FIRST_MONDAY_MS = 4 * DAY_MS + 7 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** A service that was down on Monday sends the letters until Wednesday. */
const LATE_MS = 2 * DAY_MS;
const MARK_SECONDS = (2 * WEEK_MS) / 1_000;

const getMonday = (now: Date): Date => {
  const since = now.getTime() - FIRST_MONDAY_MS;
  return new Date(FIRST_MONDAY_MS + Math.floor(since / WEEK_MS) * WEEK_MS);
};

export const queueLetters: Schedule = {
  name: "letters",
  everySeconds: HOUR_MS / 1_000,
  async run(world) {
    if (world.settings.mailFrom === null) return;
    const monday = getMonday(world.now());
    if (world.now().getTime() - monday.getTime() > LATE_MS) return;
    const day = toUtcDay(monday);
    const expiry = { expires_at: toEpochSeconds(monday) + MARK_SECONDS };
    const done = toLetterKey(day, ALL_LETTERS);
    if (await world.table.get(done)) return;
    let isDone = true;
    for await (const account of iterateAccounts(world.table)) {
      if (!isDue(account, monday)) continue;
      const { outcome } = await commit(world, {
        proof: { create: { ...toLetterKey(day, account.account), ...expiry } },
        also: [createMail(world, account.account, { kind: "week", monday: day })],
      });
      // "refused": an earlier run queued it.
      if (outcome === "ambiguous") isDone = false;
    }
    if (isDone) await world.table.write({ put: { ...done, ...expiry } });
  },
};

const isDue = (account: Account, monday: Date): boolean =>
  getAccountStatus(account) === "active" && new Date(account.createdAt) < monday;

const DOMAINS_MAX = 20;

export const readWeek = async (
  world: World,
  { account, name }: Account,
  monday: string,
): Promise<WeekFacts> => {
  const { table } = world;
  const [from, to] = [addDays(monday, -7), addDays(monday, -1)];
  const [verdicts, usage, balance, monitors, reported] = await Promise.all([
    listVerdictCounts(table, account, { from, to }),
    listUsage(table, account, { from, to }),
    getBalance(table, account),
    listMonitors(table, account),
    listReportedDomains(world, account, { days: 1, limit: DOMAINS_MAX }),
  ]);
  const { debited, refunded } = sumUsage(usage.values());
  const names = [
    ...new Set([...monitors, ...reported.domains].map(({ domain }) => domain)),
  ].toSorted();
  const domains: WeekDomain[] = [];
  for (const domain of names.slice(0, DOMAINS_MAX))
    domains.push(await readDomain(world, account, domain, monday));
  return {
    account: name,
    from,
    to,
    verdicts: sumVerdictCounts(verdicts.values()),
    cost: toCredits((debited - refunded) as Halves),
    available: toCredits(balance.available),
    domains,
    moreDomains: Math.max(0, names.length - DOMAINS_MAX),
  };
};

/** Reports arrive up to two days late, so the letter's week of sources ends on Friday: each source is new in one letter. */
const REPORTS_LATE_DAYS = 2;
/** A source that sent nothing for so long counts as new again. */
const MEMORY_DAYS = 35;

const readDomain = async (
  world: World,
  account: string,
  domain: string,
  monday: string,
): Promise<WeekDomain> => {
  const owner = { account, mode: "live" } as const;
  const to = addDays(monday, -1 - REPORTS_LATE_DAYS);
  const from = addDays(to, -6);
  const [{ steps, next, readiness }, { dmarc }] = await Promise.all([
    findDomainProgress(world, owner, domain),
    mergeReports(world, owner, { domain, days: MEMORY_DAYS, until: to, authenticatedOnly: true }),
  ]);
  const isEnforced = steps.find(({ step }) => step === "enforced")?.status === "done";
  return {
    domain,
    policy: readiness.policy,
    obstacles: isEnforced ? [] : [...new Set(steps.flatMap(({ missing }) => missing))],
    next: next.text,
    sources: dmarc.sources
      .filter(({ ip, firstDay }) => ip !== null && firstDay >= from)
      .map((source) => ({
        name: nameSource(source),
        messages: source.messages,
        aligned: source.aligned,
      })),
  };
};

const nameSource = (source: DatedSource): string => {
  const known = findSenderService(source)?.title ?? source.host;
  return known === undefined ? (source.ip ?? "") : `${source.ip} (${known})`;
};

const addDays = (day: string, days: number): string =>
  toUtcDay(addMs(new Date(`${day}T00:00:00.000Z`), days * DAY_MS));
