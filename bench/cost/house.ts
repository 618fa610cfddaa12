import { setTimeout } from "node:timers/promises";
import { rateLimitOver } from "@mailproof/core/access/rate";
import type { AppWorld } from "@mailproof/core/app-world";
import type { Queue, Receiving } from "@mailproof/core/queue";
import { engineOver } from "@mailproof/core/verify/engine";
import { tablePlaces } from "@mailproof/core/verify/table-places";
import { workers } from "@mailproof/core/workers";
import { readEnvironment } from "@mailproof/local/environment";
import { startLab } from "@mailproof/local/lab/lab";
import { openMailDoors } from "@mailproof/local/mail-doors";
import { given } from "../../test/given.ts";
import { countedBlobs, countedQueue, countedTable, NOTHING } from "./meter.ts";

export const COMPANIES = 200;

/** A house of doors that count, in front of the lab's mail servers. */
export const openHouse = async () => {
  const lab = await startLab({ companies: COMPANIES });
  const house = await given({ balance: 1_000_000, plan: "scale" });
  const meter = { ...NOTHING };
  const now = () => new Date();
  const sleep = (ms: number, signal?: AbortSignal) =>
    setTimeout(ms, undefined, { signal }).catch(() => undefined);
  const table = countedTable(house.table, meter);
  const mail = openMailDoors(readEnvironment({}), table, lab);
  const places = tablePlaces({ table, now, random: Math.random, sleep });
  const world: AppWorld = {
    ...house.world,
    table,
    // Each request with a key is counted in the table, too.
    rateLimit: rateLimitOver(table, house.world.now),
    queue: countedQueue(house.queue, meter),
    blobs: countedBlobs(house.blobs, meter),
    engine: engineOver({ ...mail, table, places }),
    names: mail.names,
    sleep,
  };
  const close = async () => {
    mail.close();
    await lab.close();
  };
  return { house, world, meter, close };
};

export type House = Awaited<ReturnType<typeof openHouse>>;

/** Takes what is queued, as SQS would hand it out: each message is received and removed. */
export const workOff = async ({ world, meter, house }: House): Promise<void> => {
  const queue: Queue & Receiving = house.queue;
  for (const worker of workers)
    for (;;) {
      const received = await queue.receive(worker.queue, { waitMs: 0 });
      if (received.length === 0) break;
      for (const { body, receipt } of received) {
        meter.queueRequest += 2;
        await worker.handle(world, body).catch(() => undefined);
        await queue.done(receipt);
      }
    }
};
