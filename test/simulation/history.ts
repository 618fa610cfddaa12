import type { AppWorld } from "@mailproof/core/app-world";
import { fingerprint } from "@mailproof/core/fingerprint";
import { reconcile } from "@mailproof/core/reconciler";
import { SLOW_ROWS_AFTER_MS } from "@mailproof/core/settings";
import type { Worker } from "@mailproof/core/worker";
import { workers } from "@mailproof/core/workers";
import { type Damage, damaged } from "../breaking.ts";
import { given } from "../given.ts";
import { quickNames } from "../names.ts";
import { pieces } from "../pieces.ts";
import { handle, keepReconciling } from "./behind.ts";
import { requestOf, type Told1, type Wish, wish } from "./clients.ts";
import { type House, type Plan, type Process, processOn } from "./process.ts";
import { untruthsOf } from "./truth.ts";
import { miscountsOf } from "./waiting.ts";

/** What happens in a history: who wants what when, and which calls go wrong. */
export type Script = {
  readonly balance: number;
  /** Each client goes through its wishes one after another; the clients do so at the same time. */
  readonly clients: readonly (readonly Wish[])[];
  readonly plan: Plan;
  /** Which of the blobs can no longer be read, and where. */
  readonly damage?: Damage;
  readonly latencyMs: () => number;
  /** When the clock is set, and by how much. */
  readonly jumps?: readonly Jump[];
  readonly mutant?: Mutant;
};

export type Jump = { readonly afterMs: number; readonly byMs: number };

/** Something is built wrongly on purpose: below the faults, or above them, in how a process takes what it hears. */
export type Mutant = {
  readonly below?: (house: House) => House;
  readonly above?: (house: House) => House;
};

const MINUTE = 60_000;
/** Plays a history to its end and tells what was wrong about it. */
export const play = async (script: Script): Promise<readonly string[]> => {
  const { plan, latencyMs, clients, balance, jumps = [], mutant = {} } = script;
  const { damage = () => undefined } = script;
  const {
    world: whole,
    table,
    queue,
    later,
    jump,
    account,
    liveKey,
  } = await given({ balance, plan: "scale" });
  const chunkRows = { batch: 2, file: 2 };
  const settings = { ...whole.settings, chunkRows, slowRowsAfterMs: SLOW_ROWS_AFTER_MS };
  const blobs = damaged(whole.blobs, damage);
  const world = { ...whole, blobs, names: quickNames, settings };
  const balances: number[] = [];
  const miscounts = new Set<string>();
  const watched: House = { ...world, queue, table: watching(table, account, balances, miscounts) };
  const house = mutant.below?.(watched) ?? watched;
  const startWith = (faults: Plan) => () => {
    const process = processOn(house, faults, latencyMs);
    return { ...process, world: mutant.above?.(process.world) ?? process.world };
  };
  const startProcess = startWith(plan);
  let isOver = false;
  const until = () => isOver;
  const behind = [
    ...workers.map((worker) => work(house, startProcess, worker, until)),
    keepReconciling(house, startProcess, 0, until),
    keepReconciling(house, startProcess, 7_000, until),
  ];
  const setClock = async (): Promise<void> => {
    for (const { afterMs, byMs } of jumps) {
      await house.sleep(afterMs);
      if (isOver) return;
      jump(byMs);
    }
  };
  behind.push(setClock());
  const upload = async (emails: readonly string[]): Promise<string> => {
    const key = `uploads/live/${account}/upl_${fingerprint(emails).slice(0, 12)}.csv`;
    await world.blobs.put(key, pieces(`email\n${emails.join("\n")}\n`));
    return key;
  };
  const client = { apiKey: liveKey, startProcess, sleep: house.sleep, upload };
  const told: Told1[] = (
    await Promise.all(
      clients.map(async (wishes) => {
        const heard: Told1[] = [];
        for (const one of wishes) heard.push(await wish(client, one));
        return heard;
      }),
    )
  ).flat();
  isOver = true;
  await Promise.all(behind);

  // The storm is over; what it broke is mended now, or never.
  await quiet(house, table, queue, later);
  // Now everybody who has a key asks once more, and must be told how it stands.
  const calm = { ...client, startProcess: startWith(() => undefined) };
  const asked = new Map(told.map((one) => [requestOf(one.wish), one.wish]));
  const last: Told1[] = [];
  for (const one of asked.values()) if (one.key !== null) last.push(await wish(calm, one));
  await quiet(house, table, queue, later);
  const ended = {
    world,
    items: table.items(),
    account,
    told: [...told, ...last],
    last,
    balances,
  };
  return [...(await untruthsOf(ended)), ...miscounts];
};

type Given = Awaited<ReturnType<typeof given>>;

const LOOKS_MAX = 60;

/** Goes from one moment that something waits for to the next, with nothing going wrong any more. */
const quiet = async (
  house: House,
  table: Given["table"],
  queue: Given["queue"],
  later: Given["later"],
): Promise<void> => {
  for (let look = 0; look < LOOKS_MAX; look++) {
    if (queue.pending() === 0 && !table.isAnythingDue()) return;
    later(5 * MINUTE);
    await reconcile.run(house);
    for (const worker of workers) await drain(house, worker);
  }
};

const drain = async (house: House, worker: Worker<AppWorld>): Promise<void> => {
  const received = await house.queue.receive(worker.queue, { waitMs: 0 });
  for (const { body, receipt } of received) {
    // What a worker throws over comes back by itself, and ends with the dead letters.
    const isDone = await worker.handle(house, body).then(
      () => true,
      () => false,
    );
    if (isDone) await house.queue.done(receipt);
  }
};

const watching = (
  table: Awaited<ReturnType<typeof given>>["table"],
  account: string,
  balances: number[],
  miscounts: Set<string>,
): House["table"] => {
  const note = async (): Promise<void> => {
    const item = await table.get({ pk: `BALANCE#${account}`, sk: "BALANCE" });
    const available = Number(item?.["available"]);
    if (available !== balances.at(-1)) balances.push(available);
  };
  return {
    ...table,
    transact: async (writes) => {
      if (balances.length === 0) await note();
      const result = await table.transact(writes);
      await note();
      for (const miscount of miscountsOf(table.items())) miscounts.add(miscount);
      return result;
    },
  };
};

/** A worker that takes messages as they come; each message has a process of its own, which may crash over it. */
const work = async (
  house: House,
  startProcess: () => Process,
  worker: Worker<AppWorld>,
  isOver: () => boolean,
): Promise<void> => {
  while (!isOver()) {
    const received = await house.queue.receive(worker.queue, { waitMs: 0 });
    await Promise.all(received.map((message) => handle(startProcess(), worker, message)));
    await house.sleep(20_000);
  }
};
