import { isDeepStrictEqual } from "node:util";
import { audit } from "@mailproof/core/background/audit";
import { findStoredCheck } from "@mailproof/core/deliverability/check-once";
import { iterateChecks } from "@mailproof/core/deliverability/items";
import { findJob, isOpenJob } from "@mailproof/core/jobs/items";
import { NOTHING_READ, readResultPage } from "@mailproof/core/jobs/result-pages";
import { getBalance } from "@mailproof/core/money/balance";
import type { Item } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import type { ClientOutcome, ClientRequest, RequestHistory } from "./clients.ts";

/** What is left when everything is quiet, and what everybody was told. */
export type SimulationOutcome = {
  readonly world: World;
  readonly items: readonly Item[];
  readonly account: string;
  readonly histories: readonly RequestHistory[];
  /** What those with a key were told when they asked once more, with nothing going wrong. */
  readonly finalHistories: readonly RequestHistory[];
  /** What was available after each commit, in order. */
  readonly balances: readonly number[];
};

/** Every way in which a history can be wrong, in words; nothing when it is right. */
export const findViolations = async (outcome: SimulationOutcome): Promise<string[]> => [
  ...(await findBrokenInvariants(outcome)),
  ...findLeftovers(outcome),
  ...(await checkPayments(outcome)),
  ...checkSearches(outcome),
  ...checkUnanswered(outcome),
  ...(await checkJobs(outcome)),
  ...(await checkCancels(outcome)),
  ...(await checkDeliverability(outcome)),
  ...checkThresholdEvents(outcome),
  ...checkRefusals(outcome),
];

const findBrokenInvariants = async ({ world }: SimulationOutcome): Promise<string[]> =>
  (await audit(world.table, world.now())).violations.map(({ law }) => `broken law: ${law}`);

const findLeftovers = ({ items }: SimulationOutcome): string[] => [
  ...items.filter(({ pk }) => pk.startsWith("OPERATION#")).map(({ pk }) => `left open: ${pk}`),
  ...items.filter(({ due_pk }) => due_pk !== undefined).map(({ pk }) => `still due: ${pk}`),
  ...items.filter(({ pk }) => pk.startsWith("DEFERRED#")).map(({ pk }) => `still waits: ${pk}`),
  ...items
    .filter(({ pk, held = 0 }) => pk.startsWith("BALANCE#") && held !== 0)
    .map(({ held }) => `${JSON.stringify(held)} halves are held though everything is quiet`),
];

/** What each wish must have cost by what was heard of it, against what the account was charged. */
const checkPayments = async ({
  world,
  account,
  histories: told,
  items,
}: SimulationOutcome): Promise<string[]> => {
  const violations: string[] = [];
  // Each two minutes of the clock a search is another one; its claim, which is kept for long, stands for its price.
  let least = listPaidSearches(items, account).length * FIND_HALVES;
  let most = least;
  for (const [name, same] of groupByKey(told.filter(({ request: wish }) => wish.kind !== "find"))) {
    const outcomes = same.flatMap((one) => one.outcomes);
    // What was paid back, with its key free again, leaves the next who asks to buy anew.
    const accepted = outcomes.filter(isAccepted);
    const standing = await Promise.all(accepted.map((one) => isStanding(world, one)));
    const paid = accepted.filter((_, at) => standing[at]);
    const prices = await Promise.all(paid.map((one) => getPrice(world, one)));
    const [price] = prices;
    if (prices.some((other) => other !== price)) violations.push(`${name} was told several prices`);
    if (new Set(paid.map(toContent)).size > 1) violations.push(`${name} was told several outcomes`);
    if (paid.filter(({ data }) => data.credits_used > 0).length > 1)
      violations.push(`${name} was told twice that it is charged`);
    if (paid.some(({ data }) => data.idempotent_replay && data.credits_used !== 0))
      violations.push(`${name} was told that a replay is charged`);
    const isDecided = outcomes.every((one) => isAccepted(one) || hasCostNothing(one));
    least += price ?? 0;
    most +=
      price ?? (isDecided ? 0 : Math.max(...same.map(({ request: wish }) => getMaxPrice(wish))));
  }
  const { debited, refunded } = await getBalance(world.table, account);
  const charged = debited - refunded;
  if (charged < least || charged > most)
    violations.push(`${charged} halves were kept; by what was told it is ${least} to ${most}`);
  return violations;
};

const CHECK_HALVES = 20;

const getMaxPrice = (request: ClientRequest): number => {
  if (request.kind === "check") return CHECK_HALVES;
  return "emails" in request ? request.emails.length * 2 : 2;
};

const FIND_HALVES = 10;

const listPaidSearches = (items: readonly Item[], account: string): readonly Item[] =>
  items.filter(({ pk }) => pk.startsWith(`CLAIM#${account}#POST /v1/find#`));

/** What was told of a search is what was paid for, and as new no more often than it was paid. */
const checkSearches = ({ histories: told, items, account }: SimulationOutcome): string[] => {
  const paid = listPaidSearches(items, account).map(({ answer }) => toSearchResult(answer));
  const accepted = told
    .filter(({ request: wish }) => wish.kind === "find")
    .flatMap((one) => one.outcomes.filter(isAccepted));
  return [...Map.groupBy(accepted, ({ data }) => toSearchResult(data))].flatMap(([found, same]) => {
    const times = paid.filter((one) => one === found).length;
    const newCount = same.filter(({ data }) => data.idempotent_replay !== true).length;
    const isFree = same.some(({ data }) => data.credits_used !== 5);
    return [
      ...(times === 0 ? [`${found} was told and not paid for`] : []),
      ...(newCount > times
        ? [`${found} was told as new ${newCount} times and paid ${times} times`]
        : []),
      ...(isFree ? [`${found} was told at another price`] : []),
    ];
  });
};

const toSearchResult = (answer: unknown): string => {
  const { status, email, confidence, pattern } = (answer ?? {}) as Record<string, unknown>;
  return JSON.stringify([status, email, confidence, pattern]);
};

type AnsweredOutcome = Exclude<ClientOutcome, "lost">;

const isAccepted = (outcome: ClientOutcome): outcome is AnsweredOutcome =>
  outcome !== "lost" && outcome.statusCode < 300;

/** Whether the answer promises that this try cost nothing. */
const hasCostNothing = (outcome: ClientOutcome): boolean =>
  outcome !== "lost" &&
  outcome.statusCode >= 300 &&
  /Nothing was charged\.|The charge was refunded\./.test(String(outcome.error.message));

/** A wish with a key is everybody's who sent it; one without is alone. A key is one of its route. */
const groupByKey = (told: readonly RequestHistory[]): [string, RequestHistory[]][] => [
  ...Map.groupBy(told, ({ request: wish }, at) =>
    wish.key === null ? `wish ${at} without a key` : `${wish.kind} ${wish.key}`,
  ),
];

/** In half-credits. A job costs what it has done in the end: what was given back of it is no price. */
const getPrice = async (world: World, { data }: AnsweredOutcome): Promise<number> => {
  if (data.check_id !== undefined) return data.cached ? 0 : CHECK_HALVES;
  if (data.job_id === undefined && data.reason === "not_probed") return 0;
  if (data.job_id === undefined) return data.cached ? 1 : 2;
  const job = await findJob(world.table, String(data.job_id));
  if (!job) return 0;
  const paidBack =
    job.refunded + job.cancelled + job.unasked + (job.kind === "file" ? job.lost : 0);
  return (job.total - paidBack) * 2;
};

/** A job of one address that failed was paid back with its key; so was a file of which nothing could be read. */
const isStanding = async (world: World, { data }: AnsweredOutcome): Promise<boolean> => {
  if (data.job_id === undefined) return true;
  const job = await findJob(world.table, String(data.job_id));
  if (job?.kind === "file") return job.refunded < job.total;
  return job?.kind !== "single" || job.status !== "failed";
};

/** What must be the same each time: of a job its name, of a result all but what it cost this time. */
const toContent = ({ data }: AnsweredOutcome): string => {
  const { idempotent_replay: _, credits_used: __, ...content } = data as Record<string, unknown>;
  return JSON.stringify(data.job_id ?? content);
};

/** When all is quiet nobody is put off: it is there, or it cannot be paid, or it breaks and is refunded. */
const checkUnanswered = ({ finalHistories: last }: SimulationOutcome): string[] =>
  last.flatMap(({ request: wish, outcomes }) => {
    const answer = outcomes.at(-1);
    const isAnswered = outcomes.length === 1 && answer !== undefined && isDefinite(answer, wish);
    return isAnswered ? [] : [`${wish.key} is still put off when everything is quiet`];
  });

const REFUSALS = ["INSUFFICIENT_CREDITS", "IDEMPOTENCY_KEY_CONFLICT"];

const isDefinite = (answer: ClientOutcome, wish: ClientRequest): boolean => {
  if (answer === "lost") return false;
  if (answer.statusCode < 300) return !isInProgress(answer);
  return REFUSALS.includes(String(answer.error.code)) || answer.statusCode === toFailure(wish);
};

/** What ends like this each time: it breaks on our side, or nobody answers. */
const toFailure = (wish: ClientRequest): number | undefined => {
  if (wish.kind === "verify") return wish.email.startsWith("error") ? 500 : undefined;
  if (wish.kind === "find") return wish.key === "Error" ? 500 : undefined;
  if (wish.kind !== "check") return undefined;
  if (wish.domain.startsWith("error")) return 500;
  return wish.domain.startsWith("dnsfail") ? 503 : undefined;
};

const isInProgress = ({ data }: AnsweredOutcome): boolean =>
  Boolean(data.dispatch_in_progress) || Boolean(data.dispatch_settlement_pending);

/** Whatever job was spoken of is there, is done, and has its result and its news. */
const checkJobs = async ({
  world,
  histories: told,
  items,
}: SimulationOutcome): Promise<string[]> => {
  const named = new Set(
    told.flatMap(({ outcomes: heard }) =>
      heard.filter(isAccepted).flatMap(({ data }) => data.job_id ?? []),
    ),
  );
  const wrong: string[] = [];
  for (const id of new Set([...named, ...listJobIds(items)])) {
    const job = await findJob(world.table, String(id));
    if (!job) wrong.push(`${id} was told of and is not there`);
    else if (isOpenJob(job)) wrong.push(`${id} is ${job.status} though everything is quiet`);
    if (!job) continue;
    const { rows } = await readResultPage(world.table, job, NOTHING_READ, 100);
    const numbers = new Set(rows.map(({ row }) => row));
    if (rows.length !== job.processed || numbers.size !== rows.length)
      wrong.push(
        `${id} has ${rows.length} rows, ${numbers.size} of them different, of ${job.processed}`,
      );
    const done = job.processed + job.refunded + job.cancelled;
    if (job.status !== "failed" && !isOpenJob(job) && done !== job.total)
      wrong.push(`${id} is ${job.status} with ${done} of ${job.total}`);
    const events = items.filter(
      ({ pk, data }) => pk.startsWith("EVENT#") && belongsTo(data, job.id),
    );
    // The contract has no event for it: who cancels a job knows.
    const expected = job.status === "cancelled" ? [] : [`job.${job.status}`];
    if (
      !isDeepStrictEqual(
        events.map(({ type }) => type),
        expected,
      )
    )
      wrong.push(`${id} is ${job.status} and has ${events.length} events`);
  }
  return wrong;
};

/** Who was told that a job is cancelled, or that it had ended, was told the truth, and all of them the same. */
const checkCancels = async ({ world, histories }: SimulationOutcome): Promise<string[]> => {
  const wrong: string[] = [];
  for (const { cancels = [], outcomes } of histories) {
    const id = String(outcomes.findLast(isAccepted)?.data.job_id);
    const job = cancels.length > 0 ? await findJob(world.table, id) : undefined;
    const heard = cancels.flatMap((one) => one.filter((outcome) => outcome !== "lost"));
    const accepted = heard.filter(isAccepted);
    const isCancelled = job?.status === "cancelled";
    if (accepted.length > 0 && !isCancelled)
      wrong.push(`${id} was told to be cancelled and is ${job?.status}`);
    // Another error is no promise, and is asked about again.
    if (isCancelled && heard.some(({ error }) => error?.code === "JOB_ENDED"))
      wrong.push(`${id} was told to have ended and is cancelled`);
    if (new Set(accepted.map(({ data }) => JSON.stringify(data))).size > 1)
      wrong.push(`${id} was told to be cancelled in several ways`);
    const [data] = accepted.map((one) => one.data);
    if (data && job && data.progress.processed !== job.processed)
      wrong.push(`${id} got rows after it was cancelled`);
    const unexpected = heard.find(({ statusCode }) => ![200, 409, 500, 503].includes(statusCode));
    if (unexpected) wrong.push(`cancelling ${id} was answered with ${unexpected.statusCode}`);
  }
  return wrong;
};

/** Whatever check was spoken of is there, was paid for, and what it found for the first time is news, once. */
const checkDeliverability = async ({
  world,
  account,
  histories: told,
  items,
}: SimulationOutcome): Promise<string[]> => {
  const wrong: string[] = [];
  const named = told.flatMap(({ outcomes: heard }) =>
    heard.filter(isAccepted).flatMap(({ data }) => data.check_id ?? []),
  );
  for (const id of new Set(named.map(String)))
    if (!(await findStoredCheck(world, id))) wrong.push(`check ${id} was told of and is not there`);

  const stored = await Array.fromAsync(iterateChecks(world.table, account, 100));
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

const listJobIds = (items: readonly Item[]) =>
  items.filter(({ pk }) => pk.startsWith("JOB#")).map(({ pk }) => pk.slice("JOB#".length));

const belongsTo = (data: unknown, id: string): boolean =>
  typeof data === "object" && data !== null && "job_id" in data && data.job_id === id;

/** Of the requests that the clients make. */
const MAX_PRICE_HALVES = 20;

/** As often as the balance fell below a line, it was said; and never besides. */
const checkThresholdEvents = ({ items, balances, account }: SimulationOutcome): string[] => {
  const shards = items.filter(({ pk, sk }) => pk === `BALANCE#${account}` && sk !== "REPORTED");
  const isSharded = shards.length > 1;
  const falls = balances.filter((after, at) => after < (balances[at - 1] ?? after)).length;
  const lowLine = Number(shards[0]?.["lowLine"]);
  return [
    { type: "credits.low", below: lowLine },
    { type: "credits.depleted", below: 2 },
  ].flatMap(({ type, below }) => {
    const crossings = balances.filter((after, at) => {
      const before = balances[at - 1] ?? after;
      return after < below && below <= before;
    }).length;
    const emitted = items.filter((item) => item["type"] === type).length;
    // Of several shards, one may get credits back in the moment in which another one takes them below the line.
    const mayCross = Math.min(...balances) - MAX_PRICE_HALVES < below;
    const mustCross = (balances.at(-1) ?? 0) < below && crossings > 0;
    const isRight = isSharded
      ? emitted <= falls && (mayCross || emitted === 0) && (!mustCross || emitted > 0)
      : crossings === emitted;
    return isRight ? [] : [`${type} was told ${emitted} times for ${crossings} crossings`];
  });
};

/** Who was told that the credits do not suffice had too few at some moment of the request, in all shards together. */
const checkRefusals = ({ histories, balances }: SimulationOutcome): string[] =>
  histories.flatMap(({ request, outcomes }) =>
    outcomes.flatMap((outcome) => {
      if (outcome === "lost" || outcome.error?.code !== "INSUFFICIENT_CREDITS") return [];
      const [first, last] = outcome.during;
      const least = Math.min(...balances.slice(first, last));
      const needed = outcome.error.details.needed * 2;
      return least < needed
        ? []
        : [`a ${request.kind} of ${needed} halves was refused, and there were ${least} or more`];
    }),
  );
