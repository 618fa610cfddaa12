import type { Queue, Receiving } from "@mailproof/core/queue";
import { reconcile } from "@mailproof/core/reconciler";
import type { Item, Table } from "@mailproof/core/table";
import type { Worker } from "@mailproof/core/worker";
import { workers } from "@mailproof/core/workers";
import type { World } from "@mailproof/core/world";

type House = { readonly world: World; readonly queue: Queue & Receiving };

/** Does what waits in the queues, as both runtimes do: what fails is left there, to come back by itself. */
export const whenWorked = async (house: House): Promise<void> => {
  for (const worker of workers) await workOff(house, worker);
};

const workOff = async ({ world, queue }: House, worker: Worker): Promise<void> => {
  for (;;) {
    const received = await queue.receive(worker.queue, { waitMs: 0 });
    if (received.length === 0) return;
    for (const { body, receipt } of received) {
      const done = await worker.handle(world, body).then(
        () => true,
        () => false,
      );
      if (done) await queue.done(receipt);
    }
  }
};

export const whenReconciled = ({ world }: Pick<House, "world">): Promise<void> =>
  reconcile.run(world);

type Quieting = House & {
  readonly queue: { readonly pending: () => number };
  readonly table: Table & { items: () => Item[] };
  readonly later: (ms: number) => void;
};

const LOOK_MS = 5 * 60_000;
const LOOKS_MAX = 100;

/** Lets time pass until nothing waits for its moment any more, and says how many minutes that took. */
export const whenQuiet = async (house: Quieting): Promise<number> => {
  const { queue, table, later } = house;
  for (let look = 0; look < LOOKS_MAX; look++) {
    await whenWorked(house);
    if (queue.pending() === 0 && !table.items().some(({ due_pk }) => due_pk))
      return (look * LOOK_MS) / 60_000;
    later(LOOK_MS);
    await whenReconciled(house);
  }
  throw new Error("it is never quiet");
};
