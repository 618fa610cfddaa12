import type { AppWorld } from "@mailproof/core/app-world";
import type { ReceivedMessage } from "@mailproof/core/ports/queue";
import type { Schedule, Worker } from "@mailproof/core/runtime/worker";
import type { Release } from "../app/release.ts";
import type { Process, SimulatedWorld } from "./process.ts";

// What goes on behind the callers' backs in a simulation; every message and every run has its own process.

/** The release's own worker of this queue. */
export const findWorker = (
  { name, workers }: Pick<Release, "name" | "workers">,
  { queue }: Pick<Worker<AppWorld>, "queue">,
): Worker<AppWorld> => {
  const found = workers.find((one) => one.queue.name === queue.name);
  if (!found) throw new Error(`${name} has no worker for ${queue.name}.`);
  return found;
};

export const findReconciler = ({ name, schedules }: Release): Schedule<AppWorld> => {
  const found = schedules.find((one) => one.name === "reconcile");
  if (!found) throw new Error(`${name} has no reconciler.`);
  return found;
};

export const handleMessage = async (
  { world, crashed, release }: Process,
  worker: Pick<Worker<AppWorld>, "queue">,
  message: ReceivedMessage,
): Promise<void> => {
  const done = Promise.try(findWorker(release, worker).handle, world, message.body)
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
    const { world, crashed, release } = start();
    const { run, everySeconds } = findReconciler(release);
    await Promise.race([run(world).catch(() => undefined), crashed]);
    await ctx.sleep(everySeconds * 1_000);
  }
};
