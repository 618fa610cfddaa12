import type { AppWorld } from "@mailproof/core/app-world";
import { reconcile } from "@mailproof/core/background/reconciler";
import type { ReceivedMessage } from "@mailproof/core/ports/queue";
import type { Worker } from "@mailproof/core/runtime/worker";
import type { Process, SimulatedWorld } from "./process.ts";

// What goes on behind the callers' backs in a simulation; every message and every run has its own process.

export const handleMessage = async (
  process: Process,
  worker: Worker<AppWorld>,
  message: ReceivedMessage,
): Promise<void> => {
  const { world, crashed } = process;
  const done = worker
    .handle(world, message.body)
    .then(() => world.queue.acknowledge(message.receipt))
    // It comes back by itself.
    .catch(() => false);
  await Promise.race([done, crashed]);
};

export const reconcileRepeatedly = async (
  ctx: SimulatedWorld,
  start: () => Process,
  afterMs: number,
  isOver: () => boolean,
): Promise<void> => {
  await ctx.sleep(afterMs);
  while (!isOver()) {
    const { world, crashed } = start();
    await Promise.race([reconcile.run(world).catch(() => undefined), crashed]);
    await ctx.sleep(reconcile.everySeconds * 1_000);
  }
};
