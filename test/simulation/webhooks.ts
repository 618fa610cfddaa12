import type { AppWorld } from "@mailproof/core/app-world";
import { reconcile } from "@mailproof/core/background/reconciler";
import { workers } from "@mailproof/core/background/workers";
import type { ReceivedMessage } from "@mailproof/core/ports/queue";
import { commit } from "@mailproof/core/runtime/commit";
import type { Worker } from "@mailproof/core/runtime/worker";
import { emitEvent, readDelivery, readEvent } from "@mailproof/core/webhooks/items";
import { Webhook } from "standardwebhooks";
import { given } from "../app/given.ts";
import type { AnswerCall, ReceivedCall } from "../app/https.ts";
import { send } from "../app/send.ts";
import { handleMessage, reconcileRepeatedly } from "./background.ts";
import { createFaultyQueue } from "./faults.ts";
import type { Change } from "./mutants.ts";
import { createProcess, type Plan, type Process, type SimulatedWorld } from "./process.ts";
import { createRandom } from "./random.ts";

// A history of events and their subscribers, in virtual time: processes of ours that crash and stall, a
// queue that doubles and loses, and servers of others that do what the script says.

export type WebhookScript = {
  readonly seed: number;
  /** How many events, and how long after each the next one. */
  readonly events: number;
  readonly everyMs: number;
  readonly webhooks: number;
  readonly answering: (world: Pick<SimulatedWorld, "now" | "sleep">) => AnswerCall;
  /** What becomes of calls of ours, until the faults are over. */
  readonly plan: Plan;
  /** Of messages, how many are doubled, lost or refused. */
  readonly queueFaults: number;
  readonly mutant?: Change;
};

const DAY = 86_400_000;

/** Plays it to its end, and tells what was wrong. */
export const runWebhooks = async (script: WebhookScript): Promise<string[]> => {
  const {
    seed,
    events,
    everyMs,
    webhooks: hooks,
    answering,
    plan,
    queueFaults,
    mutant = unchanged,
  } = script;
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
  const faultyQueues = { ...queue, ...createFaultyQueue(queue, createRandom(seed), queueFaults) };
  const faultyWorld = mutant({ ...world, table, queue: faultyQueues });
  const faultlessWorld = mutant({ ...world, table, queue });
  const start = () => createProcess(faultyWorld, plan, () => 0);

  let isOver = false;
  const background = [
    ...webhookWorkers.map((worker) => runWorkerLoop(faultyWorld, start, worker, () => isOver)),
    ...[0, 17_000].map((afterMs) => reconcileRepeatedly(faultyWorld, start, afterMs, () => isOver)),
  ];
  for (let n = 0; n < events; n++) {
    const process = start();
    const event = emitEvent(world, account, "credits.low", {
      account_id: account,
      available: n,
      threshold: 10,
    });
    await Promise.race([
      commit(process.world, { proof: event }).catch(() => undefined),
      process.crashed,
    ]);
    await world.sleep(everyMs);
  }
  isOver = true;
  await Promise.all(background);

  // The faults are over. Every emitted event is under way, and arrives within its day.
  const until = world.now().getTime() + 2 * DAY;
  while ((queue.pending() > 0 || table.hasScheduledWork()) && world.now().getTime() < until) {
    await reconcile.run(faultlessWorld);
    for (const worker of webhookWorkers) await drain(faultlessWorld, worker);
    base.later(30_000);
  }
  return findViolations(table.items(), servers.received, secrets);
};

export const unchanged: Change = (ctx) => ctx;

export const webhookWorkers = workers.filter(({ queue }) =>
  /^(events|deliveries)/.test(queue.name),
);

type Items = ReturnType<Awaited<ReturnType<typeof given>>["table"]["items"]>;

/** Every emitted event must have reached every subscriber, under one id, as one body, signed. */
const findViolations = (
  items: Items,
  received: readonly ReceivedCall[],
  secrets: ReadonlyMap<string, string>,
): string[] => {
  const violations: string[] = [];
  const events = items.filter(({ sk }) => sk === "EVENT").map(readEvent);
  const deliveries = items.filter(({ sk }) => sk === "DELIVERY").map(readDelivery);
  for (const { id } of events) {
    for (const url of secrets.keys()) {
      const deliveredCalls = received.filter(
        (one) => one.url === url && one.headers["webhook-id"] === id,
      );
      if (!deliveredCalls.some(({ isAccepted: isTaken }) => isTaken))
        violations.push(`${url} never took ${id}`);
      if (new Set(deliveredCalls.map(({ body }) => body)).size > 1)
        violations.push(`${id} was sent with two bodies`);
    }
    const eventDeliveries = deliveries.filter(({ event }) => event === id);
    if (eventDeliveries.length !== secrets.size)
      violations.push(`${id} has ${eventDeliveries.length} deliveries`);
  }
  for (const { id, status } of deliveries)
    if (status !== "delivered") violations.push(`${id} is ${status} in the end`);
  const emittedIds = new Set(events.map(({ id }) => id));
  for (const one of received)
    if (!emittedIds.has(one.headers["webhook-id"] ?? ""))
      violations.push("an event was sent that was never emitted");
  violations.push(...items.filter(({ due_pk }) => due_pk).map(({ pk }) => `still due: ${pk}`));
  return [...violations, ...findBadSignatures(received, secrets)];
};

const findBadSignatures = (
  calls: readonly ReceivedCall[],
  secrets: ReadonlyMap<string, string>,
): string[] =>
  calls.flatMap(({ url, headers, body = "" }) => {
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

/** As many messages in hand as the queue allows, each in its own process. */
export const runWorkerLoop = async (
  ctx: SimulatedWorld,
  start: () => Process,
  worker: Worker<AppWorld>,
  isOver: () => boolean,
): Promise<void> => {
  const inFlight = new Set<Promise<void>>();
  while (!isOver()) {
    if (inFlight.size >= worker.queue.concurrency) await Promise.race(inFlight);
    const max = Math.min(10, worker.queue.concurrency - inFlight.size);
    const received = await ctx.queue
      .receive(worker.queue, { max, waitMs: 0 })
      .catch((): readonly ReceivedMessage[] => []);
    for (const message of received) {
      const one = handleMessage(start(), worker, message).finally(() => inFlight.delete(one));
      inFlight.add(one);
    }
    if (received.length === 0) await ctx.sleep(inFlight.size > 0 ? POLL_MS : IDLE_MS);
  }
  await Promise.all(inFlight);
};

const drain = async (ctx: SimulatedWorld, worker: Worker<AppWorld>): Promise<void> => {
  for (;;) {
    const received = await ctx.queue.receive(worker.queue, { waitMs: 0 });
    if (received.length === 0) return;
    await Promise.all(
      received.map(async ({ body, receipt }) => {
        await worker.handle(ctx, body);
        await ctx.queue.acknowledge(receipt);
      }),
    );
  }
};
