import { isDeepStrictEqual } from "node:util";
import { audit } from "@mailproof/core/background/audit";
import { findStoredCheck } from "@mailproof/core/deliverability/check-once";
import { iterateChecks } from "@mailproof/core/deliverability/items";
import {
  findMailTest,
  findMessageReport,
  readMailTest,
} from "@mailproof/core/deliverability/mail-tests/items";
import { readSelectedRows } from "@mailproof/core/find-rows/read-job-row";
import { NOTHING_READ, readResultPage } from "@mailproof/core/find-rows/result-pages";
import { selectRows } from "@mailproof/core/find-rows/select-rows";
import { decompressJson } from "@mailproof/core/lib/compress";
import { getBalance } from "@mailproof/core/money/balance";
import { readEntry } from "@mailproof/core/money/items";
import type { MoveKind } from "@mailproof/core/money/moves";
import type { Item } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import { findJob, isOpenJob, type Job, readJob, toBucket } from "@mailproof/core/rows/items";
import { findSummary } from "@mailproof/core/rows/result-summary";
import { ERASED, type VerifiedRow } from "@mailproof/core/rows/results";
import { STATUSES } from "@mailproof/core/verify/result";
import { toSharedJson } from "../app/release.ts";
import type { ClientOutcome, ClientRequest, RequestHistory } from "./clients.ts";

/** What is stored when all work has ended, and the responses that the clients got. */
export type SimulationOutcome = {
  readonly world: World;
  readonly items: readonly Item[];
  readonly account: string;
  readonly histories: readonly RequestHistory[];
  /** The responses to clients with a key that repeated their requests, without faults. */
  readonly finalHistories: readonly RequestHistory[];
  /** What was available after each commit, in order. */
  readonly balances: readonly number[];
  /** Persons pay, or the account has a limit. */
  readonly hasLimits: boolean;
  /** The jobs that were deleted, as they were just before. */
  readonly deletedJobs: ReadonlyMap<string, Job>;
  readonly blobs: ReadonlyMap<string, string>;
};

/** Every way in which a history can be wrong, in words; nothing when it is right. */
export const findViolations = async (outcome: SimulationOutcome): Promise<string[]> => [
  ...(await findBrokenInvariants(outcome)),
  ...findLeftovers(outcome),
  ...(await checkPayments(outcome)),
  ...checkSearches(outcome),
  ...checkUnanswered(outcome),
  ...(await checkJobs(outcome)),
  ...checkVerdictCounts(outcome),
  ...(await checkChildren(outcome)),
  ...(await checkCancels(outcome)),
  ...checkDeletes(outcome),
  ...findErased(outcome),
  ...(await checkDeliverability(outcome)),
  ...(await checkMailTests(outcome)),
  ...checkThresholdEvents(outcome),
  ...checkRefusals(outcome),
];

const findBrokenInvariants = async ({ world }: SimulationOutcome): Promise<string[]> =>
  (await audit(world.table, world.now())).violations.map(
    ({ law: invariant }) => `broken invariant: ${invariant}`,
  );

const findLeftovers = ({ items }: SimulationOutcome): string[] => [
  ...items.filter(({ pk }) => pk.startsWith("OPERATION#")).map(({ pk }) => `left open: ${pk}`),
  ...items.filter(({ due_pk }) => due_pk !== undefined).map(({ pk }) => `still due: ${pk}`),
  ...items.filter(({ pk }) => pk.startsWith("DEFERRED#")).map(({ pk }) => `still waits: ${pk}`),
  ...items
    .filter(({ pk, held = 0 }) => pk.startsWith("BALANCE#") && held !== 0)
    .map(({ held }) => `${JSON.stringify(held)} halves are held though all work has ended`),
];

type Jobs = Pick<SimulationOutcome, "world" | "deletedJobs">;

/** The job as it is, or as it was when it was deleted. */
const findAnyJob = async ({ world, deletedJobs }: Jobs, id: string): Promise<Job | undefined> =>
  deletedJobs.get(id) ?? findJob(world.table, id);

/** What each request must have cost by its responses, against what the account was charged. */
const checkPayments = async (outcome: SimulationOutcome): Promise<string[]> => {
  const { world, account, histories, items } = outcome;
  const violations: string[] = [];
  // Each two minutes of the clock a search is another one; its claim, which is kept for long, stands for its price.
  let least = listPaidSearches(items, account).length * FIND_HALVES;
  let most = least;
  for (const [name, same] of groupByKey(
    histories.filter(({ request }) => request.kind !== "find" && request.kind !== "erase"),
  )) {
    const outcomes = same.flatMap((one) => one.outcomes);
    // After a refund the key is free again, and the next request buys anew.
    const accepted = outcomes.filter(isAccepted);
    const standing = await Promise.all(accepted.map((one) => isStanding(outcome, one)));
    const paid = accepted.filter((_, at) => standing[at]);
    const prices = await Promise.all(paid.map((one) => getPrice(outcome, one)));
    const [price] = prices;
    if (prices.some((other) => other !== price))
      violations.push(`${name} had several prices in its responses`);
    if (new Set(paid.map(toContent)).size > 1)
      violations.push(`${name} had several outcomes in its responses`);
    if (paid.filter(({ data }) => data.credits_used > 0).length > 1)
      violations.push(`${name} was reported as charged twice`);
    if (paid.some(({ data }) => data.idempotent_replay && data.credits_used !== 0))
      violations.push(`${name} had a replay that was reported as charged`);
    const isDecided = outcomes.every((one) => isAccepted(one) || hasCostNothing(one));
    least += price ?? 0;
    most += price ?? (isDecided ? 0 : Math.max(...same.map(({ request }) => getMaxPrice(request))));
  }
  const { debited, refunded } = await getBalance(world.table, account);
  const charged = debited - refunded;
  if (charged < least || charged > most)
    violations.push(`${charged} halves were charged; by the responses it is ${least} to ${most}`);
  return violations;
};

const CHECK_HALVES = 20;

const getMaxPrice = (request: ClientRequest): number => {
  if (request.kind === "check") return CHECK_HALVES;
  if (request.kind === "mail_test") return MAIL_TEST_HALVES;
  return "emails" in request ? request.emails.length * 2 : 2;
};

const FIND_HALVES = 10;
const MAIL_TEST_HALVES = 4;

const listPaidSearches = (items: readonly Item[], account: string): readonly Item[] =>
  items.filter(({ pk }) => pk.startsWith(`CLAIM#${account}#find#`));

/** The result of a search in its responses is the paid one, and is reported as new no more often than it was paid. */
const checkSearches = ({ histories, items, account }: SimulationOutcome): string[] => {
  const paid = listPaidSearches(items, account).map(({ answer }) => toSearchResult(answer));
  const accepted = histories
    .filter(({ request }) => request.kind === "find")
    .flatMap((one) => one.outcomes.filter(isAccepted));
  return [...Map.groupBy(accepted, ({ data }) => toSearchResult(data))].flatMap(([found, same]) => {
    const times = paid.filter((one) => one === found).length;
    const newCount = same.filter(({ data }) => data.idempotent_replay !== true).length;
    const isFree = same.some(({ data }) => data.credits_used !== 5);
    return [
      ...(times === 0 ? [`${found} was returned and not paid for`] : []),
      ...(newCount > times
        ? [`${found} was returned as new ${newCount} times and paid ${times} times`]
        : []),
      ...(isFree ? [`${found} was returned at another price`] : []),
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

/** Whether the response states that this attempt cost nothing. */
const hasCostNothing = (outcome: ClientOutcome): boolean =>
  outcome !== "lost" &&
  outcome.statusCode >= 300 &&
  /Nothing was charged\.|The charge was refunded\./.test(String(outcome.error.message));

/** Requests with the same key on the same route are one group; a request without a key is alone. */
const groupByKey = (histories: readonly RequestHistory[]): [string, RequestHistory[]][] => [
  ...Map.groupBy(histories, ({ request }, at) =>
    request.key === null ? `request ${at} without a key` : `${request.kind} ${request.key}`,
  ),
];

/** In half-credits. A job costs what it has done in the end: refunds are subtracted. */
const getPrice = async (jobs: Jobs, { data }: AnsweredOutcome): Promise<number> => {
  if (data.check_id !== undefined) return data.cached ? 0 : CHECK_HALVES;
  if (data.test_id !== undefined) {
    const mailTest = await findMailTest(jobs.world.table, String(data.test_id));
    return mailTest?.status === "received" ? MAIL_TEST_HALVES : 0;
  }
  if (data.job_id === undefined && isFree(data.status, data.reason)) return 0;
  if (data.job_id === undefined) return data.cached ? 1 : 2;
  const job = await findAnyJob(jobs, String(data.job_id));
  if (!job) return 0;
  const { failed, no_result, cancelled, not_probed, not_reached } = job.refunds;
  const refundedRows =
    no_result + cancelled + not_probed + not_reached + (job.kind === "file" ? failed : 0);
  return (job.total - (job.kept ?? 0) - refundedRows) * 2;
};

/** Why a result of these histories costs nothing: the mail server turned us away. */
const FREE_REASONS: ReadonlySet<unknown> = new Set(["rate_limited", "ip_blocked"]);
const isFree = (status: unknown, reason: unknown): boolean =>
  status === "unknown" && FREE_REASONS.has(reason);

/** A failed job of one address was refunded and its key released; so was a file of which nothing could be read. */
const isStanding = async (jobs: Jobs, { data }: AnsweredOutcome): Promise<boolean> => {
  if (data.job_id === undefined) return true;
  const job = await findAnyJob(jobs, String(data.job_id));
  if (job?.kind === "file") return job.refunds.no_result < job.total;
  return job?.kind !== "single" || job.status !== "failed";
};

/** What must be the same each time: of a job or a mail test its name, of a result all but what it cost this time. */
const toContent = ({ data }: AnsweredOutcome): string => {
  const { idempotent_replay: _, credits_used: __, ...content } = data as Record<string, unknown>;
  return toSharedJson(data.job_id ?? data.test_id ?? content);
};

/** A mail that was accepted is there, it is one, and its test has a report of it, or is refunded by our fault. */
const checkMailTests = async ({
  world,
  histories,
  items,
}: SimulationOutcome): Promise<string[]> => {
  const wrong: string[] = [];
  for (const item of items.filter(({ sk }) => sk === "MAILTEST")) {
    const { id, status } = readMailTest(item);
    const requests = histories.filter(({ outcomes }) =>
      outcomes.some((one) => isAccepted(one) && one.data.test_id === id),
    );
    const mails = requests.flatMap(({ mails = [] }) => mails);
    const stored = mails.filter((one) => one === "stored").length;
    if (stored > 1) wrong.push(`${id} took ${stored} mails`);
    if (stored > 0 && !["received", "failed"].includes(status))
      wrong.push(`${id} took a mail and is ${status}`);
    if (status === "received" && !(await findMessageReport(world.table, id)))
      wrong.push(`${id} is received and has no report`);
    if (status === "waiting" || status === "assessing")
      wrong.push(`${id} is ${status} though all work has ended`);
  }
  return wrong;
};

/** When all work has ended no request is in progress: it has a result, or it cannot be paid, or it fails and is refunded. */
const checkUnanswered = ({ finalHistories: last }: SimulationOutcome): string[] =>
  last.flatMap(({ request, outcomes }) => {
    const answer = outcomes.at(-1);
    const isAnswered = outcomes.length === 1 && answer !== undefined && isDefinite(answer, request);
    return isAnswered ? [] : [`${request.key} is still in progress when all work has ended`];
  });

const REFUSALS = [
  "INSUFFICIENT_CREDITS",
  "IDEMPOTENCY_KEY_CONFLICT",
  "RESULT_DELETED",
  // The parent was deleted, or no row of it is left to verify.
  "NOT_FOUND",
  "INVALID_REQUEST",
];

const isDefinite = (answer: ClientOutcome, request: ClientRequest): boolean => {
  if (answer === "lost") return false;
  if (answer.statusCode < 300) return !isInProgress(answer);
  return REFUSALS.includes(String(answer.error.code)) || answer.statusCode === toFailure(request);
};

/** The status of a request that fails each time: a failure of ours, or servers that do not reply. */
const toFailure = (request: ClientRequest): number | undefined => {
  if (request.kind === "verify") return request.email.startsWith("error") ? 500 : undefined;
  if (request.kind === "find") return request.key === "Error" ? 500 : undefined;
  if (request.kind !== "check") return undefined;
  if (request.domain.startsWith("error")) return 500;
  return request.domain.startsWith("dnsfail") ? 503 : undefined;
};

const isInProgress = ({ data }: AnsweredOutcome): boolean =>
  Boolean(data.dispatch_in_progress) || Boolean(data.dispatch_settlement_pending);

/** Every job in a response exists, is done, and has its result and its event. */
const checkJobs = async ({
  world,
  histories,
  items,
  deletedJobs,
}: SimulationOutcome): Promise<string[]> => {
  const named = new Set(
    histories.flatMap(({ outcomes }) =>
      outcomes.filter(isAccepted).flatMap(({ data }) => data.job_id ?? []),
    ),
  );
  const wrong: string[] = [];
  for (const id of new Set([...named, ...listJobIds(items)])) {
    if (deletedJobs.has(String(id))) continue;
    const job = await findJob(world.table, String(id));
    if (!job) wrong.push(`${id} was in a response and does not exist`);
    else if (isOpenJob(job)) wrong.push(`${id} is ${job.status} though all work has ended`);
    if (!job) continue;
    const { rows } = await readResultPage(world.table, job, NOTHING_READ, () => true);
    const numbers = new Set(rows.map(({ row }) => row));
    if (rows.length !== job.processed || numbers.size !== rows.length)
      wrong.push(
        `${id} has ${rows.length} rows, ${numbers.size} of them different, of ${job.processed}`,
      );
    const buckets = Map.groupBy(rows, ({ result }) => toBucket(result.status));
    for (const bucket of ["valid", "invalid", "risky", "unknown"] as const)
      if (job[bucket] !== (buckets.get(bucket)?.length ?? 0))
        wrong.push(`${id} counts ${job[bucket]} ${bucket} rows, and has another number of them`);
    const free = rows.filter(({ result }) => isFree(result.status, result.reason)).length;
    // Release 0.2.0 refunds no failed row of a batch.
    const { no_result, cancelled, not_probed, not_reached } = job.refunds;
    const failed = job.kind === "batch" ? job.refunds.failed : 0;
    const counted = not_probed + not_reached;
    // What was found out later takes nothing back of the refund.
    if (free > counted || (job.replaced === 0 && counted > free + failed))
      wrong.push(`${id} has ${free} free and ${failed} failed rows and counts ${counted}`);
    wrong.push(...(await checkSummary(world, job, rows)));
    const done = job.processed + no_result + cancelled;
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

/** The rows of a parent are those of its only child, where that found out something, and it waits for none. */
const checkChildren = async ({ world, items }: SimulationOutcome): Promise<string[]> => {
  const jobs = items.filter(({ sk }) => sk === "JOB").map(readJob);
  const wrong = jobs.flatMap(({ id, child }) =>
    child === undefined ? [] : [`${id} still waits for ${child}`],
  );
  for (const [parentId, children] of Map.groupBy(jobs, ({ parent }) => parent)) {
    const parent = jobs.find(({ id }) => id === parentId);
    const [child, ...others] = children;
    if (!parent || !child || others.length > 0) continue;
    const read = async (job: Job) =>
      (await readResultPage(world.table, job, NOTHING_READ, () => true)).rows;
    const now = new Map((await read(parent)).map(({ row, result }) => [row, result]));
    for (const { row, result } of await read(child))
      if (
        result.status !== "unknown" &&
        result.email !== ERASED &&
        !isDeepStrictEqual(now.get(row), result)
      )
        wrong.push(`row ${row} of ${parent.id} is not what ${child.id} found out`);
  }
  return wrong;
};

/**
 * Each result counts once: every row of a job that was verified for it, and every verification that ended without one. One that was released has a
 * result if its mail server was not asked, and none if it failed.
 */
const checkVerdictCounts = ({ items, account, deletedJobs }: SimulationOutcome): string[] => {
  const jobs = [...items.filter(({ sk }) => sk === "JOB").map(readJob), ...deletedJobs.values()];
  const jobIds = new Set(jobs.map(({ id }) => id));
  const ended = items
    .filter(({ pk }) => pk.startsWith(`LEDGER#${account}#`))
    .map(readEntry)
    .filter(({ paidFor, operation }) => paidFor === "verify" && !jobIds.has(operation));
  const count = (kind: MoveKind) => ended.filter(({ moved }) => kind in moved).length;
  const least =
    jobs.reduce((sum, { processed, kept = 0 }) => sum + processed - kept, 0) +
    count("settle") +
    count("charge");
  const most = least + count("release");
  const counted = items
    .filter(({ pk }) => pk === `VERDICTCOUNTS#${account}`)
    .flatMap((item) => STATUSES.map((status) => Number(item[status] ?? 0)))
    .reduce((sum, one) => sum + one, 0);
  return counted < least || counted > most
    ? [`${counted} verdicts are counted, and there are ${least} to ${most}`]
    : [];
};

/** What a job says of all its rows is true of each of them, and each is found where its index says. */
const checkSummary = async (
  { table }: SimulationOutcome["world"],
  job: Job,
  rows: readonly VerifiedRow[],
): Promise<string[]> => {
  if (job.kind === "single") return [];
  const wrong: string[] = [];
  const summary = await findSummary(table, job);
  const count = (pick: (row: VerifiedRow) => string | null) =>
    toSortedCounts(Map.groupBy(rows, pick), (same) => same.length);
  const counted = summary && [
    toSortedCounts(new Map(Object.entries(summary.statuses)), Number),
    toSortedCounts(new Map(Object.entries(summary.reasons)), Number),
    toSortedCounts(new Map(Object.entries(summary.providers)), Number),
    toSortedCounts(new Map(summary.scores.map(({ from, count }) => [String(from), count])), Number),
  ];
  const stored = [
    count(({ result }) => result.status),
    count(({ result }) => result.reason),
    count(({ result }) => result.provider),
    count(({ result }) => String(Math.min(90, Math.floor(result.score / 10) * 10))),
  ];
  if (!isDeepStrictEqual(counted, stored))
    wrong.push(`${job.id} counts ${JSON.stringify(counted)} and has ${JSON.stringify(stored)}`);
  for (const { domain, count } of summary?.topDomains ?? []) {
    const found = rows.filter(({ result }) => result.email.toLowerCase().endsWith(`@${domain}`));
    if (found.length !== count)
      wrong.push(`${job.id} counts ${count} rows of ${domain} and has ${found.length}`);
  }
  const order = { by: "email", isDescending: false } as const;
  const selection = { filter: {}, text: undefined, order };
  const pause = async () => {};
  const selected = await selectRows(table, job, selection, { offset: 0 }, 100, pause);
  const read = await readSelectedRows({ table, sleep: pause }, job.id, selected.found);
  const byEmail = rows.toSorted((a, b) =>
    a.result.email === b.result.email ? a.row - b.row : a.result.email < b.result.email ? -1 : 1,
  );
  if (
    !isDeepStrictEqual(
      read.map(({ row, result }) => ({ row, result })),
      byEmail,
    )
  )
    wrong.push(`${job.id} finds ${read.length} rows by its index and has ${rows.length}`);
  return wrong;
};

/** Without what is not counted and what is named nothing. */
const toSortedCounts = <V>(
  counts: ReadonlyMap<string | null, V>,
  toCount: (value: V) => number,
): string =>
  [...counts]
    .filter(([name, value]) => name !== null && toCount(value) > 0)
    .map(([name, value]) => `${name}: ${toCount(value)}`)
    .toSorted()
    .join(", ");

/** A response that a job is cancelled, or had ended, is true, and all of them are the same. */
const checkCancels = async (outcome: SimulationOutcome): Promise<string[]> => {
  const wrong: string[] = [];
  for (const { cancels = [], outcomes } of outcome.histories) {
    const id = String(outcomes.findLast(isAccepted)?.data.job_id);
    const job = cancels.length > 0 ? await findAnyJob(outcome, id) : undefined;
    const responses = cancels.flatMap((one) => one.filter((outcome) => outcome !== "lost"));
    const accepted = responses.filter(isAccepted);
    const isCancelled = job?.status === "cancelled";
    if (accepted.length > 0 && !isCancelled)
      wrong.push(`${id} was reported as cancelled and is ${job?.status}`);
    // Another error is not a promise, and is asked about again.
    if (isCancelled && responses.some(({ error }) => error?.code === "JOB_ENDED"))
      wrong.push(`${id} was reported as ended and is cancelled`);
    // Whether its rows are verified again meanwhile is another matter.
    const toState = ({ data }: AnsweredOutcome) =>
      JSON.stringify({ ...data, child_job_id: undefined });
    if (new Set(accepted.map(toState)).size > 1)
      wrong.push(`${id} was reported as cancelled in several ways`);
    const [data] = accepted.map((one) => one.data);
    if (data && job && data.progress.processed !== job.processed)
      wrong.push(`${id} got rows after it was cancelled`);
    // Another client with the same key may have deleted the job meanwhile.
    const expected = [200, 409, 500, 503, ...(outcome.deletedJobs.has(id) ? [404] : [])];
    const unexpected = responses.find(({ statusCode }) => !expected.includes(statusCode));
    if (unexpected) wrong.push(`cancelling ${id} was answered with ${unexpected.statusCode}`);
  }
  return wrong;
};

/**
 * A response that a job is deleted is true: nothing of it is served, nothing of it is stored, and it had ended.
 */
const checkDeletes = (outcome: SimulationOutcome): string[] => [
  ...checkReportedDeletes(outcome),
  ...findPartsOfDeleted(outcome),
];

const checkReportedDeletes = ({ histories, deletedJobs }: SimulationOutcome): string[] =>
  histories.flatMap(({ deletes = [], readsAfterDelete = [], outcomes }) => {
    const id = String(outcomes.findLast(isAccepted)?.data.job_id);
    const responses = deletes.flatMap((one) => one.filter((other) => other !== "lost"));
    const isDeleted = deletedJobs.has(id);
    const isGone = responses.some(({ statusCode }) => statusCode === 404);
    const unexpected = responses.find(
      ({ statusCode }) => ![200, 404, 409, 500, 503].includes(statusCode),
    );
    const read = readsAfterDelete.find(isAccepted);
    return [
      ...(responses.some(isAccepted) && !isDeleted
        ? [`${id} was reported as deleted and is not`]
        : []),
      ...(isGone && !isDeleted ? [`${id} was reported as 404 and is not deleted`] : []),
      ...(read ? [`${id} was served after it was deleted`] : []),
      ...(unexpected ? [`deleting ${id} was answered with ${unexpected.statusCode}`] : []),
    ];
  });

const findPartsOfDeleted = ({ deletedJobs, items, blobs }: SimulationOutcome): string[] =>
  [...deletedJobs.values()].flatMap((job) => [
    ...(isOpenJob(job) ? [`${job.id} was deleted while it was ${job.status}`] : []),
    ...items
      .filter(({ pk }) =>
        PARTS.some((kind) => pk === `${kind}#${job.id}` || pk.startsWith(`${kind}#${job.id}#`)),
      )
      .map(({ pk, sk }) => `${pk} ${sk} is left of a deleted job`),
    ...[...blobs.keys()]
      .filter((key) => key.split(/[./]/).includes(job.id))
      .map((key) => `${key} is left of a deleted job`),
  ]);

const PARTS = ["JOB", "CHUNKS", "RESULTS", "INDEX", "ADDRESSES", "DEFERRED", "EXPORTS", "DELETION"];

/** Who asked last for an address to be erased asked when all was quiet: no item and no file shows it. */
const findErased = ({ histories, items, blobs }: SimulationOutcome): string[] =>
  histories.flatMap(({ request, outcomes }) => {
    if (request.kind !== "erase") return [];
    const { email } = request;
    // "invalid+1@example.com" is another address.
    const pattern = new RegExp(`(?<![a-z])${email.replaceAll(/[+.]/g, "\\$&")}`);
    const stored = items.filter((item) => pattern.test(toText(item))).map(({ pk }) => pk);
    const files = [...blobs].filter(([key, text]) => !isOfNoJob(key, items) && pattern.test(text));
    const unexpected = outcomes.find(
      (one) => one !== "lost" && ![200, 202, 500, 503].includes(one.statusCode),
    );
    return [
      ...[...stored, ...files.map(([key]) => key)].map(
        (where) => `${email} was erased and is in ${where}`,
      ),
      ...(unexpected && unexpected !== "lost"
        ? [`erasing was answered with ${unexpected.statusCode}`]
        : []),
    ];
  });

const toText = (item: Item): string => {
  const { rows } = item;
  return (
    JSON.stringify(item) + (typeof rows === "string" ? JSON.stringify(decompressJson(rows)) : "")
  );
};

/** The list of a request that crashed before its job was created, or an upload that no job was made of. */
const isOfNoJob = (key: string, items: readonly Item[]): boolean =>
  !items.some(
    ({ sk, input, upload }) => sk === "JOB" && (upload === key || key.startsWith(toStem(input))),
  );

const toStem = (input: unknown): string =>
  typeof input === "object" && input !== null && "key" in input ? String(input.key) : "none";

/** Whatever check was spoken of is there, was paid for, and what it found for the first time is news, once. */
const checkDeliverability = async ({
  world,
  account,
  histories,
  items,
}: SimulationOutcome): Promise<string[]> => {
  const wrong: string[] = [];
  const named = histories.flatMap(({ outcomes }) =>
    outcomes.filter(isAccepted).flatMap(({ data }) => data.check_id ?? []),
  );
  for (const id of new Set(named.map(String)))
    if (!(await findStoredCheck(world, id)))
      wrong.push(`check ${id} was in a response and does not exist`);

  const stored = await Array.fromAsync(iterateChecks(world.table, account, 100));
  for (const { id } of stored)
    if (!items.some(({ pk, sk }) => pk.startsWith("LEDGER#") && sk.includes(`chk_${id}~end`)))
      wrong.push(`check ${id} was never paid for`);
  const failing = new Set(
    stored.map(({ domain }) => domain).filter((domain) => domain.startsWith("nodmarc")),
  );
  const events = items.filter(({ type }) => type === "dmarc.failed");
  if (events.length !== failing.size)
    wrong.push(`dmarc.failed was emitted ${events.length} times for ${failing.size} domains`);
  return wrong;
};

const listJobIds = (items: readonly Item[]) =>
  items.filter(({ pk }) => pk.startsWith("JOB#")).map(({ pk }) => pk.slice("JOB#".length));

const belongsTo = (data: unknown, id: string): boolean =>
  typeof data === "object" && data !== null && "job_id" in data && data.job_id === id;

/** Of the requests that the clients make. */
const MAX_PRICE_HALVES = 20;

/** An event is emitted each time the balance falls below a threshold, and at no other time. */
const checkThresholdEvents = ({ items, balances, account }: SimulationOutcome): string[] => {
  const shards = items.filter(({ pk, sk }) => pk === `BALANCE#${account}` && sk !== "REPORTED");
  const isSharded = shards.length > 1;
  const falls = balances.filter((after, at) => after < (balances[at - 1] ?? after)).length;
  const lowThreshold = Number(shards[0]?.["lowThreshold"]);
  return [
    { type: "credits.low", below: lowThreshold },
    { type: "credits.depleted", below: 2 },
  ].flatMap(({ type, below }) => {
    const crossings = balances.filter((after, at) => {
      const before = balances[at - 1] ?? after;
      return after < below && below <= before;
    }).length;
    const emitted = items.filter((item) => item["type"] === type).length;
    // Of several shards, one may get credits back in the moment in which another one takes them below the threshold.
    const mayCross = Math.min(...balances) - MAX_PRICE_HALVES < below;
    const mustCross = (balances.at(-1) ?? 0) < below && crossings > 0;
    const isRight = isSharded
      ? emitted <= falls && (mayCross || emitted === 0) && (!mustCross || emitted > 0)
      : crossings === emitted;
    return isRight ? [] : [`${type} was emitted ${emitted} times for ${crossings} crossings`];
  });
};

/** A 402 is true: at some moment of the request all shards together had too few credits. */
const checkRefusals = ({ histories, balances, hasLimits }: SimulationOutcome): string[] =>
  histories.flatMap(({ request, outcomes }) =>
    outcomes.flatMap((outcome) => {
      if (outcome === "lost" || outcome.error?.code !== "INSUFFICIENT_CREDITS") return [];
      const { details } = outcome.error;
      // payers.ts checks a refusal by a limit, of which a visitor is not told either.
      if (details?.limit !== undefined || (hasLimits && !details)) return [];
      const [first, last] = outcome.during;
      const least = Math.min(...balances.slice(first, last));
      // A visitor is not told: it is the price of one verification.
      const needed = (details?.needed ?? 1) * 2;
      return least < needed
        ? []
        : [`a ${request.kind} of ${needed} halves was refused, and there were ${least} or more`];
    }),
  );
