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

type TestContext = { readonly world: AppWorld; readonly queue: Queue & QueueReceiver };

/** Handles what waits in the queues, as both runtimes do: failed messages stay, and are delivered again later. */
export const whenWorked = async (ctx: TestContext): Promise<void> => {
  for (const worker of workers) await workOff(ctx, worker);
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
  return worker.handle(world, message.body).then(
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

type Quieting = TestContext & {
  readonly queue: { readonly pending: () => number };
  readonly table: Table & { items: () => readonly Item[] };
  readonly later: (ms: number) => void;
  /** Absent: as today's code does it. */
  readonly work?: () => Promise<void>;
  readonly reconcile?: () => Promise<void>;
};

const LOOK_MS = 5 * 60_000;
const LOOKS_MAX = 100;

/** Lets time pass until nothing waits for its moment any more, and says how many minutes that took. */
export const whenQuiet = async (ctx: Quieting): Promise<number> => {
  const { queue, table, later, work = () => whenWorked(ctx) } = ctx;
  const { reconcile: repair = () => whenReconciled(ctx) } = ctx;
  for (let look = 0; look < LOOKS_MAX; look++) {
    await work();
    if (queue.pending() === 0 && !table.items().some(({ due_pk }) => due_pk))
      return (look * LOOK_MS) / 60_000;
    later(LOOK_MS);
    await repair();
  }
  throw new Error("it is never quiet");
};
