import { storedCheck } from "@mailproof/core/deliverability/check";
import { checksListed } from "@mailproof/core/deliverability/items";
import { findJob } from "@mailproof/core/jobs/items";
import { NOTHING_DELIVERED, readResultPage } from "@mailproof/core/jobs/result-pages";
import { audit } from "@mailproof/core/money/audit";
import { balanceOf } from "@mailproof/core/money/items";
import type { Item } from "@mailproof/core/table";
import type { World } from "@mailproof/core/world";
import type { Heard, Told1, Wish } from "./clients.ts";

/** What is left when everything is quiet, and what everybody was told. */
export type Ended = {
  readonly world: World;
  readonly items: readonly Item[];
  readonly account: string;
  readonly told: readonly Told1[];
  /** What those with a key were told when they asked once more, with nothing going wrong. */
  readonly last: readonly Told1[];
  /** What was available after each commit, in order. */
  readonly balances: readonly number[];
};

/** Every way in which a history can be wrong, in words; nothing when it is right. */
export const untruthsOf = async (ended: Ended): Promise<string[]> => [
  ...(await brokenLaws(ended)),
  ...leftovers(ended),
  ...(await payments(ended)),
  ...searches(ended),
  ...unanswered(ended),
  ...(await jobs(ended)),
  ...(await checks(ended)),
  ...news(ended),
];

const brokenLaws = async ({ world }: Ended): Promise<string[]> =>
  (await audit(world.table, world.now())).violations.map(({ law }) => `broken law: ${law}`);

const leftovers = ({ items }: Ended): string[] => [
  ...items.filter(({ pk }) => pk.startsWith("OPERATION#")).map(({ pk }) => `left open: ${pk}`),
  ...items.filter(({ due_pk }) => due_pk !== undefined).map(({ pk }) => `still due: ${pk}`),
  ...items.filter(({ pk }) => pk.startsWith("DEFERRED#")).map(({ pk }) => `still waits: ${pk}`),
  ...items
    .filter(({ pk, held }) => pk.startsWith("BALANCE#") && held !== 0)
    .map(({ held }) => `${JSON.stringify(held)} halves are held though everything is quiet`),
];

/** What each wish must have cost by what was heard of it, against what the account was charged. */
const payments = async ({ world, account, told, items }: Ended): Promise<string[]> => {
  const wrong: string[] = [];
  // Each two minutes of the clock a search is another one; its claim, which is kept for long, stands for its price.
  let least = searchesPaid(items, account).length * FIND_HALVES;
  let most = least;
  for (const [name, same] of byKey(told.filter(({ wish }) => wish.kind !== "find"))) {
    const heard = same.flatMap((one) => one.heard);
    // What was paid back, with its key free again, leaves the next who asks to buy anew.
    const accepted = heard.filter(isAccepted);
    const standing = await Promise.all(accepted.map((one) => stands(world, one)));
    const paid = accepted.filter((_, at) => standing[at]);
    const prices = await Promise.all(paid.map((one) => priceOf(world, one)));
    const [price] = prices;
    if (prices.some((other) => other !== price)) wrong.push(`${name} was told several prices`);
    if (new Set(paid.map(contentOf)).size > 1) wrong.push(`${name} was told several outcomes`);
    if (paid.filter(({ data }) => data.credits_used > 0).length > 1)
      wrong.push(`${name} was told twice that it is charged`);
    if (paid.some(({ data }) => data.idempotent_replay && data.credits_used !== 0))
      wrong.push(`${name} was told that a replay is charged`);
    const isKnown = heard.every((one) => isAccepted(one) || isForNothing(one));
    least += price ?? 0;
    most += price ?? (isKnown ? 0 : Math.max(...same.map(({ wish }) => mostFor(wish))));
  }
  const { debited, refunded } = await balanceOf(world.table, account);
  const kept = debited - refunded;
  if (kept < least || kept > most)
    wrong.push(`${kept} halves were kept; by what was told it is ${least} to ${most}`);
  return wrong;
};

const CHECK_HALVES = 20;

const mostFor = (wish: Wish): number => {
  if (wish.kind === "check") return CHECK_HALVES;
  return "emails" in wish ? wish.emails.length * 2 : 2;
};

const FIND_HALVES = 10;

const searchesPaid = (items: readonly Item[], account: string): readonly Item[] =>
  items.filter(({ pk }) => pk.startsWith(`CLAIM#${account}#POST /v1/find#`));

/** What was told of a search is what was paid for, and as new no more often than it was paid. */
const searches = ({ told, items, account }: Ended): string[] => {
  const paid = searchesPaid(items, account).map(({ answer }) => foundIn(answer));
  const heard = told
    .filter(({ wish }) => wish.kind === "find")
    .flatMap((one) => one.heard.filter(isAccepted));
  return [...Map.groupBy(heard, ({ data }) => foundIn(data))].flatMap(([found, same]) => {
    const times = paid.filter((one) => one === found).length;
    const fresh = same.filter(({ data }) => data.idempotent_replay !== true).length;
    const isFree = same.some(({ data }) => data.credits_used !== 5);
    return [
      ...(times === 0 ? [`${found} was told and not paid for`] : []),
      ...(fresh > times ? [`${found} was told as new ${fresh} times and paid ${times} times`] : []),
      ...(isFree ? [`${found} was told at another price`] : []),
    ];
  });
};

const foundIn = (answer: unknown): string => {
  const { status, email, confidence, pattern } = (answer ?? {}) as Record<string, unknown>;
  return JSON.stringify([status, email, confidence, pattern]);
};

type Answer = Exclude<Heard, "lost">;

const isAccepted = (heard: Heard): heard is Answer => heard !== "lost" && heard.statusCode < 300;

/** Whether the answer promises that this try cost nothing. */
const isForNothing = (heard: Heard): boolean =>
  heard !== "lost" &&
  heard.statusCode >= 300 &&
  /Nothing was charged\.|The charge was refunded\./.test(String(heard.error.message));

/** A wish with a key is everybody's who sent it; one without is alone. A key is one of its route. */
const byKey = (told: readonly Told1[]): [string, Told1[]][] => [
  ...Map.groupBy(told, ({ wish }, at) =>
    wish.key === null ? `wish ${at} without a key` : `${wish.kind} ${wish.key}`,
  ),
];

/** In half-credits. A job costs what it has done in the end: what was given back of it is no price. */
const priceOf = async (world: World, { data }: Answer): Promise<number> => {
  if (data.check_id !== undefined) return data.cached ? 0 : CHECK_HALVES;
  if (data.job_id === undefined && data.reason === "not_probed") return 0;
  if (data.job_id === undefined) return data.cached ? 1 : 2;
  const job = await findJob(world.table, String(data.job_id));
  if (!job) return 0;
  const paidBack = job.refunded + job.unasked + (job.kind === "file" ? job.lost : 0);
  return (job.total - paidBack) * 2;
};

/** A job of one address that failed was paid back with its key; so was a file of which nothing could be read. */
const stands = async (world: World, { data }: Answer): Promise<boolean> => {
  if (data.job_id === undefined) return true;
  const job = await findJob(world.table, String(data.job_id));
  if (job?.kind === "file") return job.refunded < job.total;
  return job?.kind !== "single" || job.status !== "failed";
};

/** What must be the same each time: of a job its name, of a result all but what it cost this time. */
const contentOf = ({ data }: Answer): string => {
  const { idempotent_replay: _, credits_used: __, ...content } = data as Record<string, unknown>;
  return JSON.stringify(data.job_id ?? content);
};

/** When all is quiet nobody is put off: it is there, or it cannot be paid, or it breaks and is refunded. */
const unanswered = ({ last }: Ended): string[] =>
  last.flatMap(({ wish, heard }) => {
    const answer = heard.at(-1);
    const isTold = heard.length === 1 && answer !== undefined && isDefinite(answer, wish);
    return isTold ? [] : [`${wish.key} is still put off when everything is quiet`];
  });

const REFUSALS = ["INSUFFICIENT_CREDITS", "IDEMPOTENCY_KEY_CONFLICT"];

const isDefinite = (answer: Heard, wish: Wish): boolean => {
  if (answer === "lost") return false;
  if (answer.statusCode < 300) return !isUnderWay(answer);
  return REFUSALS.includes(String(answer.error.code)) || answer.statusCode === failureOf(wish);
};

/** What ends like this each time: it breaks on our side, or nobody answers. */
const failureOf = (wish: Wish): number | undefined => {
  if (wish.kind === "verify") return wish.email.startsWith("error") ? 500 : undefined;
  if (wish.kind === "find") return wish.key === "Error" ? 500 : undefined;
  if (wish.kind !== "check") return undefined;
  if (wish.domain.startsWith("error")) return 500;
  return wish.domain.startsWith("dnsfail") ? 503 : undefined;
};

const isUnderWay = ({ data }: Answer): boolean =>
  Boolean(data.dispatch_in_progress) || Boolean(data.dispatch_settlement_pending);

/** Whatever job was spoken of is there, is done, and has its result and its news. */
const jobs = async ({ world, told, items }: Ended): Promise<string[]> => {
  const named = new Set(
    told.flatMap(({ heard }) => heard.filter(isAccepted).flatMap(({ data }) => data.job_id ?? [])),
  );
  const wrong: string[] = [];
  for (const id of new Set([...named, ...idsOf(items)])) {
    const job = await findJob(world.table, String(id));
    if (!job) wrong.push(`${id} was told of and is not there`);
    else if (job.status !== "completed" && job.status !== "failed")
      wrong.push(`${id} is ${job.status} though everything is quiet`);
    if (!job) continue;
    const { rows } = await readResultPage(world.table, job, NOTHING_DELIVERED, 100);
    const numbers = new Set(rows.map(({ row }) => row));
    if (rows.length !== job.processed || numbers.size !== rows.length)
      wrong.push(
        `${id} has ${rows.length} rows, ${numbers.size} of them different, of ${job.processed}`,
      );
    if (job.status === "completed" && job.processed + job.refunded !== job.total)
      wrong.push(`${id} is completed with ${job.processed} and ${job.refunded} of ${job.total}`);
    const events = items.filter(({ pk, data }) => pk.startsWith("EVENT#") && isOf(data, job.id));
    if (events.length !== 1 || events[0]?.["type"] !== `job.${job.status}`)
      wrong.push(`${id} is ${job.status} and has ${events.length} events`);
  }
  return wrong;
};

/** Whatever check was spoken of is there, was paid for, and what it found for the first time is news, once. */
const checks = async ({ world, account, told, items }: Ended): Promise<string[]> => {
  const wrong: string[] = [];
  const named = told.flatMap(({ heard }) =>
    heard.filter(isAccepted).flatMap(({ data }) => data.check_id ?? []),
  );
  for (const id of new Set(named.map(String)))
    if (!(await storedCheck(world, id))) wrong.push(`check ${id} was told of and is not there`);

  const stored = await Array.fromAsync(checksListed(world.table, account, 100));
  for (const { id } of stored)
    if (!items.some(({ pk, sk }) => pk.startsWith("LEDGER#") && sk.includes(`chk_${id}~end`)))
      wrong.push(`check ${id} was never paid for`);
  const failing = new Set(
    stored.map(({ domain }) => domain).filter((domain) => domain.startsWith("nodmarc")),
  );
  const news = items.filter(({ type }) => type === "dmarc.failed");
  if (news.length !== failing.size)
    wrong.push(`dmarc.failed was told ${news.length} times for ${failing.size} domains`);
  return wrong;
};

const idsOf = (items: readonly Item[]) =>
  items.filter(({ pk }) => pk.startsWith("JOB#")).map(({ pk }) => pk.slice("JOB#".length));

const isOf = (data: unknown, id: string): boolean =>
  typeof data === "object" && data !== null && "job_id" in data && data.job_id === id;

/** As often as the balance fell below a line, it was said; and never besides. */
const news = ({ items, balances, account }: Ended): string[] => {
  const lowLine = Number(items.find(({ pk }) => pk === `BALANCE#${account}`)?.["lowLine"]);
  return [
    { type: "credits.low", below: lowLine },
    { type: "credits.depleted", below: 2 },
  ].flatMap(({ type, below }) => {
    const crossings = balances.filter((after, at) => {
      const before = balances[at - 1] ?? after;
      return after < below && below <= before;
    }).length;
    const told = items.filter((item) => item["type"] === type).length;
    return crossings === told ? [] : [`${type} was told ${told} times for ${crossings} crossings`];
  });
};
