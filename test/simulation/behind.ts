import type { AppWorld } from "@mailproof/core/app-world";
import type { Received } from "@mailproof/core/queue";
import { reconcile } from "@mailproof/core/reconciler";
import type { Worker } from "@mailproof/core/worker";
import type { House, Process } from "./process.ts";

// What goes on behind the callers' backs in a simulation; every message and every run has a process of its own.

export const handle = async (
  process: Process,
  worker: Worker<AppWorld>,
  message: Received,
): Promise<void> => {
  const { world, crashed } = process;
  const done = worker
    .handle(world, message.body)
    .then(() => world.queue.done(message.receipt))
    // It comes back by itself.
    .catch(() => false);
  await Promise.race([done, crashed]);
};

export const keepReconciling = async (
  house: House,
  start: () => Process,
  afterMs: number,
  isOver: () => boolean,
): Promise<void> => {
  await house.sleep(afterMs);
  while (!isOver()) {
    const { world, crashed } = start();
    await Promise.race([reconcile.run(world).catch(() => undefined), crashed]);
    await house.sleep(reconcile.everySeconds * 1_000);
  }
};
