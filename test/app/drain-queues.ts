import type { AppWorld } from "@mailproof/core/app-world";
import { reconcile } from "@mailproof/core/background/reconciler";
import { workers } from "@mailproof/core/background/workers";
import type { Queue, QueueReceiver, ReceivedMessage } from "@mailproof/core/ports/queue";
import type { Item, Table } from "@mailproof/core/ports/table";
import type { Worker } from "@mailproof/core/runtime/worker";
import { createQueueHandler } from "@mailproof/functions/queue-handler";
import { createScheduleHandler } from "@mailproof/functions/schedule-handler";
import { createContext, createSqsEvent } from "../aws/events.ts";
import { isAwsShaped } from "../aws/shape.ts";
import { limitTable } from "./rights.ts";

type TestContext = { readonly world: AppWorld; readonly queue: Queue & QueueReceiver };

/** After the others, which send to them: a job ends before its event, and an event before its deliveries. */
const LAST = ["chunks", "events", "deliveries", "mails"];
const inOrder = workers.toSorted((a, b) => LAST.indexOf(a.queue.name) - LAST.indexOf(b.queue.name));

/** Handles what waits in the queues, as both runtimes do: failed messages stay, and are delivered again later. */
export const whenWorked = async (ctx: TestContext): Promise<void> => {
  for (const worker of inOrder) await workOff(ctx, worker);
};

const workOff = async ({ world, queue }: TestContext, worker: Worker<AppWorld>): Promise<void> => {
  for (;;) {
    const received = await queue.receive(worker.queue, { waitMs: 0 });
    if (received.length === 0) return;
    for (const message of received)
      if (await isDone(world, worker, message)) await queue.acknowledge(message.receipt);
  }
};

const isDone = async (
  world: AppWorld,
  worker: Worker<AppWorld>,
  message: ReceivedMessage,
): Promise<boolean> => {
  if (isAwsShaped) return isDoneByLambda(world, worker, message);
  // Only the roles of these are limited to items.
  const isLimited = worker.needs.includes("table:rows");
  const reached = isLimited ? { ...world, table: limitTable(world.table, worker) } : world;
  return worker.handle(reached, message.body).then(
    () => true,
    () => false,
  );
};

/** By the Lambda of this queue. SQS promises only "at least once", so here each message comes twice. */
const isDoneByLambda = async (
  world: AppWorld,
  worker: Worker<AppWorld>,
  message: ReceivedMessage,
) => {
  const event = createSqsEvent(worker.queue.name, [message]);
  const callLambda = () => createQueueHandler(worker, world, leaveMessages)(event, createContext());
  const { batchItemFailures } = await callLambda();
  await callLambda();
  return batchItemFailures.length === 0;
};

const leaveMessages = async (): Promise<void> => {};

export const whenReconciled = ({ world }: Pick<TestContext, "world">): Promise<void> =>
  isAwsShaped ? createScheduleHandler(reconcile, world)({}, createContext()) : reconcile.run(world);

type Waiting = TestContext & {
  readonly queue: { readonly pending: () => number };
  readonly table: Table & { items: () => readonly Item[] };
  readonly later: (ms: number) => void;
};

type Quieting = Waiting & {
  /** Absent: as today's code does it. */
  readonly work?: () => Promise<void>;
  readonly reconcile?: () => Promise<void>;
};

const MINUTE_MS = 60_000;
const LOOK_MS = 5 * MINUTE_MS;
const LOOKS_MAX = 100;

/** When there is work: at once while a queue has a message, otherwise when the next item is due. */
const findNextWorkMs = ({ queue, table, world }: Waiting): number =>
  queue.pending() > 0
    ? world.now().getTime()
    : table
        .items()
        .filter(({ due_pk }) => due_pk)
        .reduce(
          (next, item) => Math.min(next, Date.parse(item["due_sk"] as string)),
          Number.POSITIVE_INFINITY,
        );

/** Lets time pass until the next look that can find work. Returns how many looks that is: at least one, at most `max`. */
const passLooks = (ctx: Waiting, lookMs: number, max: number): number => {
  const looks = Math.ceil((findNextWorkMs(ctx) - ctx.world.now().getTime()) / lookMs);
  const passed = Math.min(Math.max(looks, 1), max);
  ctx.later(passed * lookMs);
  return passed;
};

/** Lets minutes pass, and does in each the work that is due then, until `isOver`. */
export const whenMinutesPass = async (
  ctx: Waiting,
  minutes: number,
  isOver = async (): Promise<boolean> => false,
): Promise<void> => {
  const untilMs = ctx.world.now().getTime() + minutes * MINUTE_MS;
  for (;;) {
    const left = Math.ceil((untilMs - ctx.world.now().getTime()) / MINUTE_MS);
    if (left <= 0) return;
    passLooks(ctx, MINUTE_MS, left);
    await whenReconciled(ctx);
    await whenWorked(ctx);
    if (await isOver()) return;
  }
};

/** Lets time pass until nothing waits for its moment any more, and says how many minutes that took. */
export const whenQuiet = async (ctx: Quieting): Promise<number> => {
  const { work = () => whenWorked(ctx), reconcile: repair = () => whenReconciled(ctx) } = ctx;
  for (let look = 0; look < LOOKS_MAX; ) {
    await work();
    if (findNextWorkMs(ctx) === Number.POSITIVE_INFINITY) return (look * LOOK_MS) / MINUTE_MS;
    look += passLooks(ctx, LOOK_MS, LOOKS_MAX - look);
    await repair();
  }
  throw new Error("it is never quiet");
};
