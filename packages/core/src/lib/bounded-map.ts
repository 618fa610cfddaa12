/**
 * A map that holds the entries that were written last. To write an entry again makes it the latest, so a map whose
 * entries are written at each use drops the least recently used one (LRU).
 */
export const createBoundedMap = <Value>(sizeMax = Number.POSITIVE_INFINITY) => {
  const entries = new Map<string, Value>();
  // A Map leaves a gap where an entry was deleted, and a new iterator walks over all gaps at the front: with 100,000
  // entries that took 50 µs for each write. This iterator passes each gap once, for it stays where it is.
  let oldest = entries.keys();

  const deleteOldest = (): Value | undefined => {
    let { value: key, done } = oldest.next();
    // At its end an iterator stays done, whatever is written later.
    if (done) {
      oldest = entries.keys();
      ({ value: key, done } = oldest.next());
    }
    if (done || key === undefined) return undefined;
    const value = entries.get(key);
    entries.delete(key);
    return value;
  };

  return {
    get: (key: string): Value | undefined => entries.get(key),
    set: (key: string, value: Value): void => {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > sizeMax) deleteOldest();
    },
    delete: (key: string): boolean => entries.delete(key),
    /** Returns its value; undefined when the map is empty. */
    deleteOldest,
    size: (): number => entries.size,
  };
};

export type BoundedMap<Value> = ReturnType<typeof createBoundedMap<Value>>;
