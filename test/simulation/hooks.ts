import type { AppWorld } from "@mailproof/core/app-world";
import { commit } from "@mailproof/core/commit";
import type { Received } from "@mailproof/core/queue";
import { reconcile } from "@mailproof/core/reconciler";
import { announce, readDelivery, readEvent } from "@mailproof/core/webhooks/items";
import type { Worker } from "@mailproof/core/worker";
import { workers } from "@mailproof/core/workers";
import { Webhook } from "standardwebhooks";
import { given } from "../given.ts";
import type { Answering, Heard } from "../https.ts";
import { send } from "../send.ts";
import { handle, keepReconciling } from "./behind.ts";
import { chanceOf } from "./chance.ts";
import { faultyQueue } from "./faults.ts";
import type { Change } from "./mutants.ts";
import { type House, type Plan, type Process, processOn } from "./process.ts";

// A history of events and of those who are told of them, in virtual time: processes of ours that crash and stall, a
// queue that doubles and loses, and servers of others that do what the script says.

export type Script = {
  readonly seed: number;
  /** How many events, and how long after each the next one. */
  readonly events: number;
  readonly everyMs: number;
  readonly hooks: number;
  readonly answering: (world: Pick<House, "now" | "sleep">) => Answering;
  /** What becomes of calls of ours, until the storm is over. */
  readonly plan: Plan;
  /** Of messages, how many are doubled, lost or refused. */
  readonly queueFaults: number;
  readonly mutant?: Change;
};

const DAY = 86_400_000;

/** Plays it to its end, and tells what was wrong. */
export const playHooks = async (script: Script): Promise<string[]> => {
  const { seed, events, everyMs, hooks, answering, plan, queueFaults, mutant = same } = script;
  const base = await given();
  const { world, table, queue, servers, liveKey: key, account } = base;
  const secrets = new Map<string, string>();
  for (let n = 0; n < hooks; n++) {
    const url = `https://hook${n}.example/in`;
    const { data } = await send(world, "POST /v1/webhooks", {
      key,
      body: { url, events: ["credits.low"] },
    });
    secrets.set(url, data.secret as string);
  }
  servers.answer(answering(world));
  const unsure = { ...queue, ...faultyQueue(queue, chanceOf(seed), queueFaults) };
  const stormy = mutant({ ...world, table, queue: unsure });
  const calm = mutant({ ...world, table, queue });
  const start = () => processOn(stormy, plan, () => 0);

  let isOver = false;
  const background = [
    ...hookWorkers.map((worker) => keepWorking(stormy, start, worker, () => isOver)),
    ...[0, 17_000].map((afterMs) => keepReconciling(stormy, start, afterMs, () => isOver)),
  ];
  for (let n = 0; n < events; n++) {
    const process = start();
    const told = announce(world, account, "credits.low", {
      account_id: account,
      available: n,
      threshold: 10,
    });
    await Promise.race([commit(process.world, [told]).catch(() => undefined), process.crashed]);
    await world.sleep(everyMs);
  }
  isOver = true;
  await Promise.all(background);

  // The storm is over. Whatever was announced is on its way, and arrives within its day.
  const until = world.now().getTime() + 2 * DAY;
  while ((queue.pending() > 0 || table.isAnythingDue()) && world.now().getTime() < until) {
    await reconcile.run(calm);
    for (const worker of hookWorkers) await drain(calm, worker);
    base.later(30_000);
  }
  return untold(table.items(), servers.heard, secrets);
};

export const same: Change = (house) => house;

export const hookWorkers = workers.filter(({ queue }) => /^(events|deliveries)/.test(queue.name));

type Items = ReturnType<Awaited<ReturnType<typeof given>>["table"]["items"]>;

/** Whatever was announced must have reached everybody, under one id, as one body, signed. */
const untold = (
  items: Items,
  heard: readonly Heard[],
  secrets: ReadonlyMap<string, string>,
): string[] => {
  const wrong: string[] = [];
  const events = items.filter(({ sk }) => sk === "EVENT").map(readEvent);
  const deliveries = items.filter(({ sk }) => sk === "DELIVERY").map(readDelivery);
  for (const { id } of events) {
    for (const url of secrets.keys()) {
      const calls = heard.filter((one) => one.url === url && one.headers["webhook-id"] === id);
      if (!calls.some(({ isTaken }) => isTaken)) wrong.push(`${url} never took ${id}`);
      if (new Set(calls.map(({ body }) => body)).size > 1) wrong.push(`${id} was told in two ways`);
    }
    const made = deliveries.filter(({ event }) => event === id);
    if (made.length !== secrets.size) wrong.push(`${id} has ${made.length} deliveries`);
  }
  for (const { id, status } of deliveries)
    if (status !== "delivered") wrong.push(`${id} is ${status} in the end`);
  const known = new Set(events.map(({ id }) => id));
  for (const one of heard)
    if (!known.has(one.headers["webhook-id"] ?? ""))
      wrong.push("something was told that never was");
  wrong.push(...items.filter(({ due_pk }) => due_pk).map(({ pk }) => `still due: ${pk}`));
  return [...wrong, ...badlySigned(heard, secrets)];
};

const badlySigned = (heard: readonly Heard[], secrets: ReadonlyMap<string, string>): string[] =>
  heard.flatMap(({ url, headers, body = "" }) => {
    const sent = new Date(Number(headers["webhook-timestamp"]) * 1_000);
    const signature = new Webhook(secrets.get(url) ?? "").sign(
      headers["webhook-id"] ?? "",
      sent,
      body,
    );
    return signature === headers["webhook-signature"]
      ? []
      : [`badly signed: ${headers["webhook-id"]}`];
  });

const POLL_MS = 100;
const IDLE_MS = 1_000;

/** As many messages in hand as the queue allows, each in a process of its own. */
export const keepWorking = async (
  house: House,
  start: () => Process,
  worker: Worker<AppWorld>,
  isOver: () => boolean,
): Promise<void> => {
  const inHand = new Set<Promise<void>>();
  while (!isOver()) {
    if (inHand.size >= worker.queue.atOnce) await Promise.race(inHand);
    const max = Math.min(10, worker.queue.atOnce - inHand.size);
    const received = await house.queue
      .receive(worker.queue, { max, waitMs: 0 })
      .catch((): readonly Received[] => []);
    for (const message of received) {
      const one = handle(start(), worker, message).finally(() => inHand.delete(one));
      inHand.add(one);
    }
    if (received.length === 0) await house.sleep(inHand.size > 0 ? POLL_MS : IDLE_MS);
  }
  await Promise.all(inHand);
};

const drain = async (house: House, worker: Worker<AppWorld>): Promise<void> => {
  for (;;) {
    const received = await house.queue.receive(worker.queue, { waitMs: 0 });
    if (received.length === 0) return;
    await Promise.all(
      received.map(async ({ body, receipt }) => {
        await worker.handle(house, body);
        await house.queue.done(receipt);
      }),
    );
  }
};
