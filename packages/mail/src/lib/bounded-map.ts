type BoundedMapOptions<Value> = {
  readonly weightMax: number;
  /** Absent when each entry weighs 1. The map does not store an entry of more than half of `weightMax`. */
  readonly weigh?: (value: Value) => number;
};

/**
 * A map that drops the least recently used entries, and keeps entries of at least half of `weightMax`.
 *
 * Entries live in two generations: reading or writing an entry moves it to the recent one; when that one has half of the weight, the map
 * drops the older one whole. An exact order of use would need a delete for each use, and a Map that is full of deleted entries is copied
 * within one write: with 100,000 entries that stopped the process for 20 ms.
 */
export const createBoundedMap = <Value>({
  weightMax,
  weigh = () => 1,
}: BoundedMapOptions<Value>) => {
  let recent = new Map<string, Value>();
  let older = new Map<string, Value>();
  let recentWeight = 0;

  const subtractWeight = (key: string): void => {
    const value = recent.get(key);
    if (value !== undefined) recentWeight -= weigh(value);
  };

  const remove = (key: string): void => {
    subtractWeight(key);
    recent.delete(key);
    older.delete(key);
  };

  const set = (key: string, value: Value): void => {
    const weight = weigh(value);
    if (weight > weightMax / 2) return remove(key);
    subtractWeight(key);
    if (recentWeight + weight > weightMax / 2) {
      older = recent;
      recent = new Map();
      recentWeight = 0;
    }
    recent.set(key, value);
    recentWeight += weight;
  };

  const get = (key: string): Value | undefined => {
    const found = recent.get(key);
    if (found !== undefined) return found;
    const old = older.get(key);
    if (old !== undefined) set(key, old);
    return old;
  };

  return { get, set, delete: remove, isEmpty: () => recent.size + older.size === 0 };
};

export type BoundedMap<Value> = ReturnType<typeof createBoundedMap<Value>>;
