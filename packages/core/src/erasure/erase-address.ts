import type { Address } from "@mailproof/mail/address";
import { hashAddress, listAddressHashes } from "../accounts/hashes.ts";
import { createSubject, type Subject } from "../accounts/subject.ts";
import { forgetOwned } from "../activity/forget.ts";
import { eraseVerdict } from "../calibration/account-history.ts";
import { eraseMailTests } from "../deliverability/mail-tests/items.ts";
import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { decryptSecret, encryptSecret } from "../lib/secret-box.ts";
import { addMs } from "../lib/time.ts";
import { eraseAnswers } from "../money/idempotency-claims.ts";
import type { KeyMode } from "../money/payer.ts";
import { getOwnerId } from "../money/payer.ts";
import { type Item, toPosition } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { getItemKey } from "../ports/writes.ts";
import { findJob, isOpenJob, type Job, readJob, toJobsPartition } from "../rows/items.ts";
import { freeIfChildEnded } from "../rows/replace-rows.ts";
import {
  acquireLease,
  getRemainingLeaseMs,
  readScheduledWork,
  scheduleWork,
} from "../runtime/leases.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import { eraseCachedResults } from "../verify/result-cache.ts";
import { eraseFromJob, isInList } from "./erase-from-job.ts";
import {
  countErased,
  type ErasedCounts,
  type ErasedKind,
  type Erasure,
  readErasure,
  toErasureKey,
} from "./items.ts";

// Erases all data of an account about an address. The erasure's record is written first, so the erasure completes after any
// crash: the request erases within its time, and the reconciler erases the rest. An open job still verifies the address, so the
// erasure waits until the job has ended.

export const ERASURE = "erasure";

/** Live and test keys of an account have separate stores. */
export type DataOwner = { readonly account: string; readonly mode: KeyMode };

/** `isComplete`: nothing is left. Otherwise the erasure continues and waits for `openJobs`. */
export type ErasureState = {
  readonly isComplete: boolean;
  readonly erased: ErasedCounts;
  readonly openJobs: readonly string[];
};

/** While the lease lasts, no other process takes the erasure over. */
const LEASE_MS = 5 * 60_000;
/** The time that one run searches jobs: half of the Lambda's time, because one large job may take long. */
const RUN_MS = 15_000;
/** An incomplete erasure continues after ten seconds. */
const CONTINUE_AFTER_MS = 10_000;
const OPEN_JOBS_CHECK_MS = 5 * 60_000;
const ERASURE_WAIT_MS = Math.max(LEASE_MS, OPEN_JOBS_CHECK_MS);

/**
 * `runMs` limits the search of jobs in this call. A repeat searches all jobs itself when no other process has the erasure;
 * otherwise that process starts again.
 */
export const eraseAddress = async (
  world: World,
  owner: DataOwner,
  subject: Subject,
  runMs = RUN_MS,
): Promise<ErasureState> => {
  const { item, isOurs } = await beginErasure(world, owner, subject);
  if (isOurs) return runErasure(world, item, subject, runMs);
  return toState(await eraseOutsideJobs(world, readErasure(item), subject), false);
};

type Begun = { readonly item: Item; readonly isOurs: boolean };

const beginErasure = async (
  world: World,
  owner: DataOwner,
  { text, canonical }: Subject,
): Promise<Begun> => {
  const id = hashAddress(world, getOwnerId(owner), canonical);
  const token = world.newId("txn");
  const item: Item = {
    ...toErasureKey(id),
    id,
    account: owner.account,
    mode: owner.mode,
    address: encryptSecret(world, getOwnerId(owner), text),
    ...scheduleWork(ERASURE, id, addMs(world.now(), LEASE_MS), token),
  };
  const { outcome } = await world.table.write({ create: item });
  if (outcome === "committed") return { item, isOurs: true };
  const found = await world.table.get(toErasureKey(id));
  if (!found) throw createUnknownFailure();
  return found["token"] === token ? { item: found, isOurs: true } : joinErasure(world, found);
};

const createUnknownFailure = (): Failure =>
  createUnavailableFailure(
    "It is not known whether the erasure has begun. Send the request again.",
  );

const joinErasure = async (world: World, found: Item): Promise<Begun> => {
  const { pk, sk } = found;
  const marked = await world.table.write({ update: { pk, sk }, set: { isRepeated: true } });
  // The erasure ended just now, or the outcome is unknown.
  if (marked.outcome !== "committed" || !marked.item) throw createUnknownFailure();
  const { item } = marked;
  const work = readScheduledWork(item);
  const isHeld = work.token !== item["releasedToken"] && getRemainingLeaseMs(work, world.now()) > 0;
  const leased = isHeld ? undefined : await acquireLease(world, item, LEASE_MS);
  return leased ? beginFromFirstJob(world, leased) : { item, isOurs: false };
};

/** This search reads every job, so its result answers all repeats so far, too. */
const beginFromFirstJob = async (world: World, leased: Item): Promise<Begun> => {
  const result = await world.table.write({
    update: getItemKey({ put: leased }),
    set: { after: undefined, isListRead: false, openJobs: [], isRepeated: undefined },
    where: { token: readScheduledWork(leased).token },
  });
  return result.outcome === "committed" && result.item
    ? { item: result.item, isOurs: true }
    : { item: leased, isOurs: false };
};

const toState = (erasure: Erasure, isComplete: boolean): ErasureState => ({
  isComplete,
  erased: countErased((kind) => erasure[kind]),
  openJobs: erasure.openJobs,
});

type Eraser = (world: World, erasure: Erasure, subject: Subject) => Promise<number>;

/** Only live keys have these records: test keys get simulated activity. */
const ofLive =
  (erase: (world: World, account: string, address: Address) => Promise<number>): Eraser =>
  async (world, { account, mode }, { address }) =>
    mode === "live" && address ? erase(world, account, address) : 0;

const underEachHash =
  (erase: (world: World, hash: string) => Promise<number>): Eraser =>
  async (world, erasure, { canonical }) => {
    const hashes = listAddressHashes(world, getOwnerId(erasure), canonical);
    const counts = await Promise.all(hashes.map((hash) => erase(world, hash)));
    return counts.reduce((sum, count) => sum + count, 0);
  };

/** The erasers of data that is found by the address itself. Each returns the number of erased items. */
const ERASERS: readonly (readonly [ErasedKind, Eraser])[] = [
  ["cachedResults", (world, own, email) => eraseCachedResults(world.table, getOwnerId(own), email)],
  ["responses", underEachHash(({ table }, hash) => eraseAnswers(table, hash))],
  ["mailTests", underEachHash(eraseMailTests)],
  ["verdicts", ofLive(eraseVerdict)],
  ["activityRecords", ofLive(forgetOwned)],
];

const eraseOutsideJobs = async (
  world: World,
  erasure: Erasure,
  subject: Subject,
): Promise<Erasure> => {
  let counted = erasure;
  for (const [kind, erase] of ERASERS)
    counted = { ...counted, [kind]: erasure[kind] + (await erase(world, erasure, subject)) };
  return counted;
};

const runErasure = async (
  world: World,
  item: Item,
  subject: Subject,
  runMs: number,
): Promise<ErasureState> => {
  const { token } = readScheduledWork(item);
  const until = world.now().getTime() + runMs;
  const isLate = () => world.now().getTime() >= until;
  let erasure = await eraseOutsideJobs(world, readErasure(item), subject);
  try {
    for await (erasure of searchJobs(world, erasure, subject)) if (isLate()) break;
    if (erasure.isListRead) erasure = await searchOpenJobs(world, erasure, subject);
    const isDone = erasure.isListRead && erasure.openJobs.length === 0;
    if (isDone && (await endErasure(world, erasure, token))) return toState(erasure, true);
    await saveErasure(world, isDone ? beginAgain(erasure) : erasure, token);
  } catch (cause) {
    // The reconciler tries again after the lease.
    world.log("erasure_deferred", { cause });
  }
  return toState(erasure, false);
};

async function* searchJobs(
  world: World,
  erasure: Erasure,
  subject: Subject,
): AsyncGenerator<Erasure> {
  if (erasure.isListRead) return;
  let state = erasure;
  const { after } = erasure;
  const list = { index: "list", pk: toJobsPartition(getOwnerId(erasure)) } as const;
  for await (const item of paginateQuery(world.table, { ...list, ...(after && { after }) })) {
    state = await searchJob(world, state, readJob(item), subject);
    state = { ...state, after: toPosition(item, "list") };
    yield state;
  }
  const { after: _, ...others } = state;
  yield { ...others, isListRead: true };
}

const searchJob = async (
  world: World,
  erasure: Erasure,
  { id }: Pick<Job, "id">,
  subject: Subject,
): Promise<Erasure> => {
  const found = await findJob(world.table, id);
  if (!found) return erasure;
  const job = await freeIfChildEnded(world, found);
  if (!isOpenJob(job)) {
    const rows = await eraseFromJob(world, job, subject);
    const erased = { ...erasure, jobRows: erasure.jobRows + rows };
    // The job's child may bring the address back, so the job is searched again once the child has ended.
    return job.child === undefined ? erased : { ...erased, openJobs: [...erased.openJobs, id] };
  }
  return (await isInList(world, job, subject))
    ? { ...erasure, openJobs: [...erasure.openJobs, id] }
    : erasure;
};

const searchOpenJobs = async (
  world: World,
  erasure: Erasure,
  subject: Subject,
): Promise<Erasure> => {
  let state: Erasure = { ...erasure, openJobs: [] };
  for (const id of erasure.openJobs) state = await searchJob(world, state, { id }, subject);
  return state;
};

/**
 * False when a repeat arrived meanwhile, so the erasure starts again. The record stays until the table's log contains no
 * address: while the table cannot be scrubbed, the erasure becomes due again.
 */
const endErasure = async (world: World, { id }: Erasure, token: string): Promise<boolean> => {
  await world.table.scrub?.();
  const { outcome } = await world.table.write({
    remove: toErasureKey(id),
    where: { token, isRepeated: { missing: true } },
  });
  return outcome === "committed" || !(await world.table.get(toErasureKey(id)));
};

const beginAgain = (erasure: Erasure): Erasure => ({
  ...erasure,
  after: undefined,
  isListRead: false,
});

const saveErasure = async (world: World, erasure: Erasure, token: string): Promise<void> => {
  const { id, after, ...others } = erasure;
  const waitMs = erasure.openJobs.length > 0 ? OPEN_JOBS_CHECK_MS : CONTINUE_AFTER_MS;
  await world.table.write({
    update: toErasureKey(id),
    set: {
      ...others,
      after,
      releasedToken: token,
      // Only a search that started at the first job answers a repeat.
      ...(after === undefined && !erasure.isListRead && { isRepeated: undefined }),
      due_sk: addMs(world.now(), waitMs).toISOString(),
    },
    where: { token },
  });
};

const repairErasure = async (world: World, item: Item): Promise<string> => {
  const erasure = readErasure(item);
  const text = decryptSecret(world, getOwnerId(erasure), erasure.address);
  if (text === undefined) throw new Error("the address of an erasure cannot be decrypted");
  const { isComplete } = await runErasure(world, item, createSubject(text), RUN_MS);
  return isComplete ? "erased" : "goes_on";
};

export const erasureWork: WorkKind = {
  kind: ERASURE,
  repair: repairErasure,
  longestWaitMs: ERASURE_WAIT_MS,
};
