import type { AppWorld } from "@mailproof/core/app-world";
import { reconcile } from "@mailproof/core/background/reconciler";
import { workers } from "@mailproof/core/background/workers";
import type { ReceivedMessage } from "@mailproof/core/ports/queue";
import { getItemKey } from "@mailproof/core/ports/writes";
import { commit } from "@mailproof/core/runtime/commit";
import type { Worker } from "@mailproof/core/runtime/worker";
import { emitEvent, readDelivery, readEvent } from "@mailproof/core/webhooks/items";
import { createWebhook } from "@mailproof/core/webhooks/webhooks";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { whenQuiet } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import type { AnswerCall, ReceivedCall } from "../app/https.ts";
import { send } from "../app/send.ts";
import { givenChunked, whenBatched } from "../things/jobs.ts";
import { parseEvents, whenSubscribed } from "../things/webhooks.ts";
import { handleMessage, reconcileRepeatedly } from "./background.ts";
import { createFaultyQueue } from "./faults.ts";
import type { Change } from "./mutants.ts";
import { createProcess, FAULTS, type Plan, type Process, type SimulatedWorld } from "./process.ts";
import { createRandom } from "./random.ts";

// A history of events and their subscribers, in virtual time: processes of ours that crash and stall, a
// queue that doubles and loses, and servers of others that do what the script says.

type WebhookScript = {
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
const runWebhooks = async (script: WebhookScript): Promise<string[]> => {
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

const unchanged: Change = (ctx) => ctx;

const webhookWorkers = workers.filter(({ queue }) => /^(events|deliveries)/.test(queue.name));

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
const runWorkerLoop = async (
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

// Goal: every emitted event reaches all its subscribers, within its day, under one id; and one address that
// hangs delays no other.
// Method: a seed decides a whole history. To see one again: SEED=<n> npx vitest run test/simulation/hooks

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** Servers that do anything but lose what they took: each call is answered by chance. */
const createMoodyServer =
  (seed: number): WebhookScript["answering"] =>
  ({ sleep }) => {
    const chance = createRandom(seed);
    return async () => {
      const roll = chance();
      if (roll < 0.1) {
        await sleep(10 * SECOND);
        return "timeout";
      }
      if (roll < 0.2) return 500;
      if (roll < 0.25) return { status: 429, retryAfter: String(Math.floor(chance() * 600)) };
      if (roll < 0.3) return "connect_refused";
      await sleep(chance() * 300);
      return 200;
    };
  };

const createScript = (seed: number): WebhookScript => {
  const chance = createRandom(seed);
  const rate = [0, 0.02, 0.1, 0.3][Math.floor(chance() * 4)] ?? 0;
  const plan: Plan = () =>
    chance() < rate ? FAULTS[Math.floor(chance() * FAULTS.length)] : undefined;
  return {
    seed,
    events: 1 + Math.floor(chance() * 8),
    everyMs: chance() * 90 * SECOND,
    webhooks: 1 + Math.floor(chance() * 3),
    answering: createMoodyServer(seed),
    plan,
    queueFaults: rate,
  };
};

const SEEDS = 60;
const BLOCK = 20;
const only = process.env["SEED"];
const blocks = only
  ? [{ from: Number(only), to: Number(only) + 1 }]
  : Array.from({ length: SEEDS / BLOCK }, (_, block) => ({
      from: block * BLOCK,
      to: (block + 1) * BLOCK,
    }));

test.each(blocks)(
  "every subscriber receives every event under one id in seeds $from to $to",
  async ({ from, to }) => {
    for (let seed = from; seed < to; seed++)
      expect(await runWebhooks(createScript(seed)), `SEED=${seed} shows it`).toEqual([]);
  },
);

test("a process that dies between the commit and the message loses no event", async () => {
  // The second call of the process that emits an event is the message to the workers.
  let call = 0;
  const plan: Plan = () => (call++ === 1 ? "crash" : undefined);

  const script = { ...createScript(1), events: 1, everyMs: 5 * SECOND, queueFaults: 0, plan };
  expect(await runWebhooks({ ...script, answering: () => () => 200 })).toEqual([]);
});

test("a receiver that is down for six hours receives every event in the end", async () => {
  const answering: WebhookScript["answering"] = ({ now }) => {
    const up = now().getTime() + 6 * HOUR;
    return ({ url }) => (url.includes("hook0") && now().getTime() < up ? "connect_refused" : 200);
  };
  for (let seed = 0; seed < 2; seed++) {
    const script = {
      ...createScript(seed),
      events: 20,
      everyMs: 20 * 60 * SECOND,
      webhooks: 2,
      answering,
    };
    expect(await runWebhooks({ ...script, plan: () => undefined, queueFaults: 0.05 })).toEqual([]);
  }
});

// Each planted bug must be found.
const writing =
  (prefix: string, change: (item: any) => any): Change =>
  (ctx) => ({
    ...ctx,
    table: {
      ...ctx.table,
      transact: (writes) =>
        ctx.table.transact(
          writes.map((write) =>
            "create" in write && getItemKey(write).pk.startsWith(prefix)
              ? { create: change(write.create) }
              : write,
          ),
        ),
    },
  });

const NEVER_SCHEDULED = { due_sk: "9999" };
let doubleWrites = 0;

const MUTANTS: Readonly<Record<string, Change>> = {
  "an event is only sent by message": writing("EVENT#", (item) => ({
    ...item,
    ...NEVER_SCHEDULED,
  })),
  "a delivery is only sent by message": writing("DELIVERY#", (item) => ({
    ...item,
    ...NEVER_SCHEDULED,
  })),
  "an event that is fanned out twice is delivered twice": (ctx) => ({
    ...ctx,
    table: {
      ...ctx.table,
      transact: (writes) =>
        ctx.table.transact(
          writes.map((write) =>
            "update" in write && write.update.pk.startsWith("EVENT#")
              ? { update: write.update, set: write.set ?? {} }
              : write,
          ),
        ),
    },
  }),
  "each try has an id of its own": (ctx) => ({
    ...ctx,
    https: {
      ...ctx.https,
      call: (request) =>
        ctx.https.call({
          ...request,
          headers: { ...request.headers, "webhook-id": `evt_x${++doubleWrites}` },
        }),
    },
  }),
  "a delivery counts as done before it is": (ctx) => ({
    ...ctx,
    https: {
      ...ctx.https,
      call: async (request) => {
        const outcome = await ctx.https.call(request);
        return outcome.kind === "failed" ? { ...outcome, ...ACCEPTED } : outcome;
      },
    },
  }),
};
const ACCEPTED = {
  kind: "answer",
  status: 200,
  contentType: "",
  retryAfter: null,
  body: "",
  isComplete: true,
} as const;

test.each(Object.entries(MUTANTS))(
  "the simulation detects the mutant in which %s",
  async (_, mutant) => {
    for (let seed = 0; seed < 200; seed++)
      if ((await runWebhooks({ ...createScript(seed), mutant })).length > 0) return;
    expect.unreachable("no violation was found");
  },
);

/** Thousands of events are much to do for a machine that does other things beside. */
const MUCH_MS = 120_000;

test("one hanging receiver with a thousand events delays a thousand other events for only seconds", {
  timeout: MUCH_MS,
}, async () => {
  const base = await given();
  const { world, table, queue, servers } = base;
  const hanging = "https://hangs.example/";
  const answering: AnswerCall = async ({ url }) => {
    await world.sleep(url === hanging ? 10 * SECOND : 100);
    return url === hanging ? "timeout" : 200;
  };
  servers.answer(answering);
  await createWebhook(world, { owner: "dead", url: hanging, events: ["credits.low"] });
  const owners = Array.from({ length: 20 }, (_, n) => `owner${n}`);
  for (const owner of owners)
    await createWebhook(world, {
      owner,
      url: `https://${owner}.example/`,
      events: ["credits.low"],
    });

  const ctx = { ...world, table, queue };
  let isOver = false;
  const background = webhookWorkers.map((worker) =>
    runWorkerLoop(
      ctx,
      () =>
        createProcess(
          ctx,
          () => undefined,
          () => 0,
        ),
      worker,
      () => isOver,
    ),
  );
  const emitCreditsLow = (owner: string) =>
    commit(world, {
      proof: emitEvent(world, owner, "credits.low", {
        account_id: owner,
        available: 1,
        threshold: 2,
      }),
    });
  for (let n = 0; n < 1_000; n++) await emitCreditsLow("dead");
  const startedAt = world.now().getTime();
  for (let n = 0; n < 50; n++) for (const owner of owners) await emitCreditsLow(owner);
  await world.sleep(60 * SECOND);
  isOver = true;
  await Promise.all(background);

  const others = servers.received.filter(({ url }) => url !== hanging);
  const waits = others.map(({ at }) => at.getTime() - startedAt);
  expect(new Set(others.map(({ headers }) => headers["webhook-id"])).size).toBe(1_000);
  expect(Math.max(...waits)).toBeLessThan(5 * SECOND);
});

test("a thousand completed jobs emit one event each under one id, however often the message arrives", {
  timeout: MUCH_MS,
}, async () => {
  const base = await givenChunked({ balance: 1_000, plan: "scale" });
  const { world, table, queue, servers, liveKey } = base;
  await whenSubscribed(base, { events: ["job.completed"] });
  const chance = createRandom(7);
  const ctx = { ...world, table, queue: { ...queue, ...createFaultyQueue(queue, chance, 0.05) } };
  const plan: Plan = () => (chance() < 0.01 ? "lost_after" : undefined);
  const minutely = { ...world, rateLimit: async () => ALLOWED };

  for (let n = 0; n < 1_000; n++)
    await whenBatched(minutely, liveKey, { emails: [`ann${n}@x.com`] });
  let isOver = false;
  const background = workers.map((worker) =>
    runWorkerLoop(
      ctx,
      () => createProcess(ctx, plan, () => 0),
      worker,
      () => isOver,
    ),
  );
  await world.sleep(60 * SECOND);
  isOver = true;
  await Promise.all(background);
  await whenQuiet(base);

  const delivered = parseEvents(servers.received);
  const idsOf = Map.groupBy(delivered, ({ data }) => data.job_id as string);
  expect(idsOf.size).toBe(1_000);
  for (const [job, all] of idsOf)
    expect(new Set(all.map(({ id }) => id as string)).size, `${job}`).toBe(1);
  expect(delivered.length).toBeGreaterThan(1_000);
});

const ALLOWED = {
  allowed: true,
  by: "key",
  limit: 1,
  remaining: 1,
  resetAt: 1_795_219_260,
} as const;
