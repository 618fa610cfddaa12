import { setTimeout } from "node:timers/promises";
import { createRateLimit } from "@mailproof/core/accounts/rate-limit";
import type { AppWorld } from "@mailproof/core/app-world";
import { workers } from "@mailproof/core/background/workers";
import type { Queue, QueueReceiver } from "@mailproof/core/ports/queue";
import { createSharedSlots } from "@mailproof/core/smtp-pool/slots/slot-pool";
import { createEngine } from "@mailproof/core/verify/engine";
import { startLab } from "@mailproof/lab/lab";
import { readEnvironment } from "@mailproof/local/environment";
import { openMailPorts } from "@mailproof/local/mail-ports";
import { given } from "../../test/app/given.ts";
import {
  createCountedBlobs,
  createCountedQueue,
  createCountedTable,
  EMPTY_METER,
} from "./meter.ts";

export const COMPANIES = 200;

/** Ports that count, in front of the lab's mail servers. */
export const createCostContext = async () => {
  const lab = await startLab({ companies: COMPANIES });
  const ctx = await given({ balance: 1_000_000, plan: "scale" });
  const meter = { ...EMPTY_METER };
  const now = () => new Date();
  const sleep = (ms: number, signal?: AbortSignal) =>
    setTimeout(ms, undefined, { signal }).catch(() => undefined);
  const table = createCountedTable(ctx.table, meter);
  const mail = openMailPorts(readEnvironment({}), table, lab);
  const slots = createSharedSlots({ table, now, random: Math.random, sleep });
  const world: AppWorld = {
    ...ctx.world,
    table,
    // Each request with a key is counted in the table, too.
    rateLimit: createRateLimit(table, ctx.world.now),
    queue: createCountedQueue(ctx.queue, meter),
    blobs: createCountedBlobs(ctx.blobs, meter),
    engine: createEngine({ ...mail, table, slots }),
    names: mail.dnsLookups,
    sleep,
  };
  const close = async () => {
    mail.close();
    await lab.close();
  };
  return { ctx, world, meter, close };
};

export type CostContext = Awaited<ReturnType<typeof createCostContext>>;

/** Takes what is queued, as SQS would hand it out: each message is received and removed. */
export const drainQueues = async ({ world, meter, ctx }: CostContext): Promise<void> => {
  const queue: Queue & QueueReceiver = ctx.queue;
  for (const worker of workers)
    for (;;) {
      const received = await queue.receive(worker.queue, { waitMs: 0 });
      if (received.length === 0) break;
      for (const { body, receipt } of received) {
        meter.queueRequest += 2;
        await worker.handle(world, body).catch(() => undefined);
        await queue.acknowledge(receipt);
      }
    }
};
