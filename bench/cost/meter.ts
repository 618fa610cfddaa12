import type { Blobs } from "@mailproof/core/ports/blobs";
import type { Queue } from "@mailproof/core/ports/queue";
import { INDEXES, type Item, type Key, type Table, type Write } from "@mailproof/core/ports/table";
import { getItemKey } from "@mailproof/core/ports/writes";

// Adapters that count what AWS would count: requests, and the capacity units of the items that they touch.

export type MeteredUnit = "writeUnit" | "readUnit" | "queueRequest" | "put" | "get";
export type CostMeter = Record<MeteredUnit, number>;

const measureSize = (item: Item | undefined): number =>
  item ? Buffer.byteLength(JSON.stringify(item)) : 0;
const toKilobytes = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1024));
const toFourKilobytes = (bytes: number): number => Math.max(1, Math.ceil(bytes / 4096));

/** In an index an item is written where its place there or anything in it changes, and moved where its place does. */
const countIndexUnits = (before: Item | undefined, after: Item | undefined): number =>
  Object.values(INDEXES).reduce((sum, { pk, sk }) => {
    const getIndexKey = (item: Item | undefined) =>
      item?.[pk] === undefined || item[sk] === undefined
        ? undefined
        : JSON.stringify([item[pk], item[sk]]);
    const [was, is] = [getIndexKey(before), getIndexKey(after)];
    if (was !== undefined && was === is) return sum + toKilobytes(measureSize(after));
    return (
      sum +
      (was ? toKilobytes(measureSize(before)) : 0) +
      (is === undefined ? 0 : toKilobytes(measureSize(after)))
    );
  }, 0);

export const createCountedTable = (table: Table, meter: CostMeter): Table => {
  const countWrites = async <T>(
    writes: readonly Write[],
    times: number,
    act: () => Promise<T>,
  ): Promise<T> => {
    const keys: Key[] = writes.map(getItemKey);
    const before = await Promise.all(keys.map((key) => table.get(key)));
    const result = await act();
    const after = await Promise.all(keys.map((key) => table.get(key)));
    for (const at of keys.keys()) {
      const larger = Math.max(measureSize(before[at]), measureSize(after[at]));
      meter.writeUnit += times * toKilobytes(larger) + countIndexUnits(before[at], after[at]);
    }
    return result;
  };
  return {
    get: async (key) => {
      const item = await table.get(key);
      meter.readUnit += toFourKilobytes(measureSize(item));
      return item;
    },
    query: async (query) => {
      const page = await table.query(query);
      const bytes = page.items.reduce((sum, item) => sum + measureSize(item), 0);
      meter.readUnit += toFourKilobytes(bytes) * (query.index ? 0.5 : 1);
      return page;
    },
    write: (write) => countWrites([write], 1, () => table.write(write)),
    // A transaction prepares every write and then does it.
    transact: (writes) => countWrites(writes, 2, () => table.transact(writes)),
  };
};

const PART_BYTES = 8 * 2 ** 20;
const BATCH = 10;

export const createCountedBlobs = (blobs: Blobs, meter: CostMeter): Blobs => ({
  ...blobs,
  put: async (key, content) => {
    const metadata = await blobs.put(key, content);
    meter.put += Math.ceil(metadata.bytes / PART_BYTES) + (metadata.bytes > PART_BYTES ? 2 : 0);
    return metadata;
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

export const createCountedQueue = (queue: Queue, meter: CostMeter): Queue => ({
  ...queue,
  sendMany: (name, messages) => {
    meter.queueRequest += Math.ceil(messages.length / BATCH);
    return queue.sendMany(name, messages);
  },
});

export const EMPTY_METER: CostMeter = {
  writeUnit: 0,
  readUnit: 0,
  queueRequest: 0,
  put: 0,
  get: 0,
};
