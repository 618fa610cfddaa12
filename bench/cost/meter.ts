import type { Blobs } from "@mailproof/core/blobs";
import type { Queue } from "@mailproof/core/queue";
import { INDEXES, type Item, type Key, type Table, type Write } from "@mailproof/core/table";
import { keyOf } from "@mailproof/core/writes";

// Doors that count what AWS would count: requests, and the capacity units of the items that they touch.

export type Counted = "writeUnit" | "readUnit" | "queueRequest" | "put" | "get";
export type Meter = Record<Counted, number>;

const sizeOf = (item: Item | undefined): number =>
  item ? Buffer.byteLength(JSON.stringify(item)) : 0;
const kilobytes = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1024));
const fourKilobytes = (bytes: number): number => Math.max(1, Math.ceil(bytes / 4096));

/** In an index an item is written where its place there or anything in it changes, and moved where its place does. */
const indexUnits = (before: Item | undefined, after: Item | undefined): number =>
  Object.values(INDEXES).reduce((sum, { pk, sk }) => {
    const placeOf = (item: Item | undefined) =>
      item?.[pk] === undefined || item[sk] === undefined
        ? undefined
        : JSON.stringify([item[pk], item[sk]]);
    const [was, is] = [placeOf(before), placeOf(after)];
    if (was !== undefined && was === is) return sum + kilobytes(sizeOf(after));
    return (
      sum +
      (was ? kilobytes(sizeOf(before)) : 0) +
      (is === undefined ? 0 : kilobytes(sizeOf(after)))
    );
  }, 0);

export const countedTable = (table: Table, meter: Meter): Table => {
  const counted = async <T>(
    writes: readonly Write[],
    times: number,
    act: () => Promise<T>,
  ): Promise<T> => {
    const keys: Key[] = writes.map(keyOf);
    const before = await Promise.all(keys.map((key) => table.get(key)));
    const came = await act();
    const after = await Promise.all(keys.map((key) => table.get(key)));
    for (const at of keys.keys()) {
      const larger = Math.max(sizeOf(before[at]), sizeOf(after[at]));
      meter.writeUnit += times * kilobytes(larger) + indexUnits(before[at], after[at]);
    }
    return came;
  };
  return {
    get: async (key) => {
      const item = await table.get(key);
      meter.readUnit += fourKilobytes(sizeOf(item));
      return item;
    },
    query: async (query) => {
      const page = await table.query(query);
      const bytes = page.items.reduce((sum, item) => sum + sizeOf(item), 0);
      meter.readUnit += fourKilobytes(bytes) * (query.index ? 0.5 : 1);
      return page;
    },
    write: (write) => counted([write], 1, () => table.write(write)),
    // A transaction prepares every write and then does it.
    transact: (writes) => counted(writes, 2, () => table.transact(writes)),
  };
};

const PART_BYTES = 8 * 2 ** 20;
const BATCH = 10;

export const countedBlobs = (blobs: Blobs, meter: Meter): Blobs => ({
  ...blobs,
  put: async (key, content) => {
    const facts = await blobs.put(key, content);
    meter.put += Math.ceil(facts.bytes / PART_BYTES) + (facts.bytes > PART_BYTES ? 2 : 0);
    return facts;
  },
  head: (key) => {
    meter.get += 1;
    return blobs.head(key);
  },
  get: (key, options) => {
    meter.get += 1;
    return blobs.get(key, options);
  },
});

export const countedQueue = (queue: Queue, meter: Meter): Queue => ({
  ...queue,
  sendMany: (name, messages) => {
    meter.queueRequest += Math.ceil(messages.length / BATCH);
    return queue.sendMany(name, messages);
  },
});

export const NOTHING: Meter = { writeUnit: 0, readUnit: 0, queueRequest: 0, put: 0, get: 0 };
