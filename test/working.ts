import { SINGLES, verifySingle } from "@mailproof/core/jobs/single";
import type { Queue, Receiving } from "@mailproof/core/queue";
import { reconcile } from "@mailproof/core/reconciler";
import type { World } from "@mailproof/core/world";

type House = { readonly world: World; readonly queue: Queue & Receiving };

/** Does what waits in the queue, as both runtimes do: what fails is left there, to come back by itself. */
export const whenWorked = async ({ world, queue }: House): Promise<void> => {
  for (;;) {
    const received = await queue.receive(SINGLES, { waitMs: 0 });
    if (received.length === 0) return;
    for (const { body, receipt } of received) {
      const done = await verifySingle.handle(world, body).then(
        () => true,
        () => false,
      );
      if (done) await queue.done(receipt);
    }
  }
};

export const whenReconciled = ({ world }: Pick<House, "world">): Promise<void> =>
  reconcile.run(world);
