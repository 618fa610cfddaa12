import type { AppWorld } from "@mailproof/core/app-world";
import { workers } from "@mailproof/core/background/workers";
import { fingerprint } from "@mailproof/core/lib/fingerprint";
import { readBalance } from "@mailproof/core/money/balance";
import { SLOW_ROWS_AFTER_MS } from "@mailproof/core/ports/settings";
import type { Item, Write } from "@mailproof/core/ports/table";
import { getItemKey } from "@mailproof/core/ports/writes";
import type { DeferredGroup } from "@mailproof/core/rows/deferrals";
import { isOpenJob, type Job, readJob } from "@mailproof/core/rows/items";
import { freeIfChildEnded } from "@mailproof/core/rows/replace-rows";
import type { Worker } from "@mailproof/core/runtime/worker";
import { quickDnsLookups } from "../app/dns-lookups.ts";
import { createDamagedBlobs, type Damage } from "../app/faulty-worlds.ts";
import { streamPieces } from "../app/form.ts";
import { given } from "../app/given.ts";
import { CURRENT, type Release, runRelease } from "../app/release.ts";
import { findReconciler, findWorker, handleMessage, reconcileRepeatedly } from "./background.ts";
import {
  type ClientRequest,
  type RequestHistory,
  sendAndEnd,
  sendUntilDone,
  toRequestId,
} from "./clients.ts";
import { createContention } from "./contention.ts";
import { findViolations } from "./find-violations.ts";
import {
  checkCounters,
  checkLimitRefusals,
  findOverspent,
  givenPayers,
  NO_PAYERS,
  type Payers,
} from "./payers.ts";
import { createProcess, type Plan, type Process, type SimulatedWorld } from "./process.ts";

/** Jobs that say at this moment that another number of rows waits than does, or for another reason. */
const findMiscounts = (items: readonly Item[]): readonly string[] => {
  const waiting = Map.groupBy(
    items.filter(({ pk }) => pk.startsWith("DEFERRED#")),
    ({ pk }) => pk.slice("DEFERRED#".length),
  );
  return items
    .filter(({ pk, sk }) => pk.startsWith("JOB#") && sk === "JOB")
    .map(readJob)
    .filter((job) => isOpenJob(job) || Object.keys(job.deferred).length > 0)
    .flatMap(({ id, deferred }) => {
      const groups = (waiting.get(id) ?? []).flatMap(
        (item) => item["groups"] as readonly DeferredGroup[],
      );
      const counted = toSortedText(deferred);
      const there = toSortedText(countByReason(groups));
      return counted === there ? [] : [`${id} says that ${counted} wait, and ${there} do`];
    });
};

const countByReason = (groups: readonly DeferredGroup[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  // Slow rows are under way, and do not wait.
  for (const { reason, rows } of groups.filter(({ isSlow }) => !isSlow))
    counts[reason] = (counts[reason] ?? 0) + rows.length;
  return counts;
};

const toSortedText = (counts: Readonly<Record<string, number>>): string =>
  Object.keys(counts)
    .toSorted()
    .map((reason) => `${counts[reason]} ${reason}`)
    .join(", ") || "none";

/** What happens in a history: who wants what when, and which calls go wrong. */
export type Script = {
  readonly balance: number;
  /** Each client sends its requests one after another; the clients do so at the same time. */
  readonly clients: readonly (readonly ClientRequest[])[];
  readonly plan: Plan;
  /** Which of the blobs can no longer be read, and where. */
  readonly damage?: Damage;
  readonly latencyMs: () => number;
  /** How long a transaction occupies its items for all others. Absent: no transaction meets another. */
  readonly busyMs?: () => number;
  /** How many credits a shard of the balance has. Absent: so many that there is one shard. */
  readonly creditsPerShard?: number;
  /** When the clock is set, and by how much. */
  readonly jumps?: readonly Jump[];
  readonly mutant?: Mutant;
  /** Who pays. Absent: all clients have the account's key, and no limit. */
  readonly payers?: Payers;
  /** Which code each process runs. Absent: today's. */
  readonly fleet?: Fleet;
};

/** `during`: the release of each process is drawn from these. `after`: the one that is left when nothing goes wrong any more. */
export type Fleet = {
  readonly during: readonly Crew[];
  readonly after: Crew;
  readonly chance: () => number;
};

/** A release, and what is built wrongly in it on purpose. */
export type Crew = Release & { readonly change?: (ctx: SimulatedWorld) => SimulatedWorld };

export type Jump = { readonly afterMs: number; readonly byMs: number };

/** Something is built wrongly on purpose: below the faults, or above them, in how a process takes what it hears. */
export type Mutant = {
  readonly belowFaults?: (ctx: SimulatedWorld) => SimulatedWorld;
  readonly aboveFaults?: (ctx: SimulatedWorld) => SimulatedWorld;
};

const MINUTE = 60_000;
/** Plays a history to its end and tells what was wrong about it. */
export const runScript = async (script: Script): Promise<readonly string[]> => {
  const { plan, latencyMs, busyMs, clients, balance, jumps = [], mutant = {} } = script;
  const { damage = () => undefined, payers = NO_PAYERS } = script;
  const {
    world: baseWorld,
    blobs: memoryBlobs,
    table,
    queue,
    later,
    jump,
    account,
    liveKey,
  } = await given({ balance, plan: "scale" });
  const chunkRows = { batch: 2, file: 2 };
  const { creditsPerShard } = script;
  const settings = {
    ...baseWorld.settings,
    chunkRows,
    slowRowsAfterMs: SLOW_ROWS_AFTER_MS,
    ...(creditsPerShard && { creditsPerShard }),
  };
  const blobs = { keys: memoryBlobs.keys, ...createDamagedBlobs(baseWorld.blobs, damage) };
  const world = { ...baseWorld, blobs, names: quickDnsLookups, settings };
  const balances: number[] = [balance * 2];
  const miscounts = new Set<string>();
  const deletedJobs = new Map<string, Job>();
  const findSession = await givenPayers(world, account, payers);
  let mostSpent = 0;
  const watchSpending = (items: readonly Item[]): readonly string[] => {
    for (const { pk, spent } of items)
      if (pk.startsWith("SPENT#")) mostSpent = Math.max(mostSpent, Number(spent));
    return findOverspent(items, payers);
  };
  const watched = watchTable(table, account, balances, miscounts, deletedJobs, watchSpending);
  const watchedCtx: SimulatedWorld = {
    ...world,
    queue,
    table: busyMs ? createContention({ ...world, busyMs }).wrap(watched) : watched,
  };
  const ctx = mutant.belowFaults?.(watchedCtx) ?? watchedCtx;
  const fleet = createFleet(ctx, script.fleet);
  const createStarter = (faults: Plan, draw: () => Drawn) => () => {
    const { release, ctx: own } = draw();
    const process = createProcess(own, faults, latencyMs, release);
    return { ...process, world: mutant.aboveFaults?.(process.world) ?? process.world };
  };
  const startProcess = createStarter(plan, fleet.during);
  // The last release knows no sessions.
  const startToday = createStarter(plan, fleet.today);
  let isOver = false;
  const until = () => isOver;
  const background = [
    ...workers.map((worker) => runWorker(ctx, startProcess, worker, until)),
    reconcileRepeatedly(ctx, startProcess, 0, until),
    reconcileRepeatedly(ctx, startProcess, 7_000, until),
  ];
  const setClock = async (): Promise<void> => {
    for (const { afterMs, byMs } of jumps) {
      await ctx.sleep(afterMs);
      if (isOver) return;
      jump(byMs);
    }
  };
  background.push(setClock());
  const upload = async (emails: readonly string[]): Promise<string> => {
    const key = `uploads/live/${account}/upl_${fingerprint(emails).slice(0, 12)}.bGlzdC5jc3Y.csv`;
    await world.blobs.put(key, streamPieces(`email\n${emails.join("\n")}\n`));
    return key;
  };
  const countBalances = () => balances.length;
  const client = { apiKey: liveKey, startProcess, sleep: ctx.sleep, upload, countBalances };
  const histories: RequestHistory[] = (
    await Promise.all(
      clients.map(async (requests, at) => {
        const ownHistories: RequestHistory[] = [];
        const startSession = findSession(at);
        const own = startSession ? { ...client, startSession, startProcess: startToday } : client;
        for (const request of requests) ownHistories.push(...(await sendAndEnd(own, request)));
        return ownHistories;
      }),
    )
  ).flat();
  isOver = true;
  await Promise.all(background);

  // The faults are over; what they broke is repaired now, or never.
  await settleDown(fleet.after, table, queue, later);
  // Now every client with a key repeats its request, and must get the final state.
  const startFaultless = createStarter(
    () => undefined,
    () => fleet.after,
  );
  const faultlessClient = { ...client, startProcess: startFaultless };
  const requestsById = new Map(
    histories.map((request) => [toRequestId(request.request), request.request]),
  );
  const finalHistories: RequestHistory[] = [];
  for (const request of requestsById.values())
    if (request.key !== null) finalHistories.push(await sendUntilDone(faultlessClient, request));
  await settleDown(fleet.after, table, queue, later);
  for (const email of listErased(histories))
    finalHistories.push(await sendUntilDone(faultlessClient, { kind: "erase", key: null, email }));
  await settleDown(fleet.after, table, queue, later);
  // The last release ends a child without its parent, and the next request of today's frees that.
  if (script.fleet)
    for (const item of table.items())
      if (item.sk === "JOB") await freeIfChildEnded(world, readJob(item));
  const outcome = {
    world,
    items: table.items(),
    account,
    histories: [...histories, ...finalHistories],
    finalHistories,
    balances,
    hasLimits: payers !== NO_PAYERS,
    deletedJobs,
    blobs: await readBlobs(baseWorld.blobs, blobs.keys()),
  };
  return [
    ...(await findViolations(outcome)),
    ...(await findByOwnAudit(fleet.after, world.now())),
    ...(script.fleet ? [] : checkCounters(outcome.items, payers)),
    ...checkLimitRefusals(outcome.histories, mostSpent),
    ...miscounts,
  ];
};

/** As the release that is left sees it. Of today's, findViolations has the same. */
const findByOwnAudit = async ({ release, ctx }: Drawn, now: Date): Promise<string[]> =>
  (await release.audit(ctx.table, now)).violations.map(({ law }) => `${release.name} says: ${law}`);

const listErased = (histories: readonly RequestHistory[]): ReadonlySet<string> =>
  new Set(histories.flatMap(({ request }) => (request.kind === "erase" ? [request.email] : [])));

type Drawn = { readonly release: Release; readonly ctx: SimulatedWorld };

/** A release with its own world over these ports. */
const createFleet = (ctx: SimulatedWorld, fleet: Fleet | undefined) => {
  const toDrawn = (release: Crew): Drawn => {
    const { change = (own: SimulatedWorld) => own } = release;
    return { release, ctx: runRelease(release, change(ctx)) };
  };
  const current = { release: CURRENT, ctx };
  if (!fleet) return { during: () => current, today: () => current, after: current };
  const { during, chance, after } = fleet;
  const all = during.map(toDrawn);
  const today = toDrawn(CURRENT);
  return {
    during: () => all[Math.floor(chance() * all.length)] as Drawn,
    today: () => today,
    after: toDrawn(after),
  };
};

type TestContext = Awaited<ReturnType<typeof given>>;

/** Everything that is stored as files, by key. */
const readBlobs = async (
  blobs: SimulatedWorld["blobs"],
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> =>
  new Map(
    await Promise.all(
      keys.map(async (key) => {
        const found = await blobs.get(key);
        const content = Buffer.concat(await Array.fromAsync(found?.content ?? []));
        return [key, content.toString()] as const;
      }),
    ),
  );

/** With room for the longest waits of an address. */
const ROUNDS_MAX = 100;

/** Goes from one moment that something waits for to the next, with nothing going wrong any more. */
const settleDown = async (
  left: Drawn,
  table: TestContext["table"],
  queue: TestContext["queue"],
  later: TestContext["later"],
): Promise<void> => {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    // The reconciler runs each minute, also where no item is scheduled: it reports thresholds that two shards crossed together.
    if (round > 0 && queue.pending() === 0 && !table.hasScheduledWork()) return;
    later(5 * MINUTE);
    await findReconciler(left.release).run(left.ctx);
    for (const worker of workers) await drain(left, worker);
  }
};

const drain = async ({ release, ctx }: Drawn, worker: Worker<AppWorld>): Promise<void> => {
  const received = await ctx.queue.receive(worker.queue, { waitMs: 0 });
  for (const { body, receipt } of received) {
    // What a worker throws over comes back by itself, and ends with the dead letters.
    const isDone = await Promise.try(findWorker(release, worker).handle, ctx, body).then(
      () => true,
      () => false,
    );
    if (isDone) await ctx.queue.acknowledge(receipt);
  }
};

const watchTable = (
  table: TestContext["table"],
  account: string,
  balances: number[],
  miscounts: Set<string>,
  deletedJobs: Map<string, Job>,
  watchSpending: (items: readonly Item[]) => readonly string[],
): SimulatedWorld["table"] => {
  const recordBalance = async (): Promise<void> => {
    const { available } = await readBalance(table, account);
    if (available !== balances.at(-1)) balances.push(available);
  };
  return {
    ...table,
    transact: async (writes) => {
      const removed = listRemovedJobs(table, writes);
      const result = await table.transact(writes);
      if (result.outcome === "committed") for (const job of removed) deletedJobs.set(job.id, job);
      if (writes.some((write) => getItemKey(write).pk.startsWith("BALANCE#")))
        await recordBalance();
      const items = table.items();
      for (const miscount of [...findMiscounts(items), ...watchSpending(items)])
        miscounts.add(miscount);
      return result;
    },
  };
};

/** The jobs that these writes delete, as they are before. */
const listRemovedJobs = (table: TestContext["table"], writes: readonly Write[]): readonly Job[] => {
  const keys = new Set(
    writes.flatMap((write) =>
      "remove" in write && write.remove.sk === "JOB" ? [write.remove.pk] : [],
    ),
  );
  return keys.size === 0
    ? []
    : table
        .items()
        .filter(({ pk, sk }) => sk === "JOB" && keys.has(pk))
        .map(readJob);
};

/** A worker that takes messages as they come; each message has its own process, which may crash over it. */
const runWorker = async (
  ctx: SimulatedWorld,
  startProcess: () => Process,
  worker: Worker<AppWorld>,
  isOver: () => boolean,
): Promise<void> => {
  while (!isOver()) {
    const received = await ctx.queue.receive(worker.queue, { waitMs: 0 });
    await Promise.all(received.map((message) => handleMessage(startProcess(), worker, message)));
    await ctx.sleep(20_000);
  }
};
