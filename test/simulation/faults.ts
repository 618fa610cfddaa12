import type { Blobs } from "@mailproof/core/blobs";
import type { Queue, Receiving } from "@mailproof/core/queue";
import type { Table } from "@mailproof/core/table";

// Faults are injected below the code, by chance that a seed decides: the seed is the bug's whole description.
// A call is lost before it has an effect or after it; the caller cannot tell which, as on a real network.

type Chance = () => number;

export const faultyTable = (table: Table, chance: Chance, rate: number): Table => {
  const isLost = () => chance() < rate;
  const mayLose = async <T>(commit: () => Promise<T>): Promise<T | { outcome: "ambiguous" }> => {
    if (isLost()) return { outcome: "ambiguous" };
    const result = await commit();
    return isLost() ? { outcome: "ambiguous" } : result;
  };
  return {
    get: (key) => orLost(isLost, () => table.get(key)),
    query: (query) => orLost(isLost, () => table.query(query)),
    write: (write) => mayLose(() => table.write(write)),
    transact: (writes) => mayLose(() => table.transact(writes)),
  };
};

/** Also hands messages out twice and in another order: a queue promises no more than "at least once". */
export const faultyQueue = <Q extends Queue & Receiving>(
  queue: Q,
  chance: Chance,
  rate: number,
): Q => {
  const happens = () => chance() < rate;
  return {
    ...queue,
    sendMany: async (name, messages) => {
      const outcomes = messages.map(async (message) => {
        if (happens()) return "refused" as const;
        if (happens()) return "unknown" as const;
        await queue.sendMany(name, happens() ? [message, message] : [message]);
        return happens() ? ("unknown" as const) : ("sent" as const);
      });
      return Promise.all(outcomes);
    },
    countDead: () => orLost(happens, () => queue.countDead()),
    receive: async (facts, options) => {
      const received = await orLost(happens, () => queue.receive(facts, options));
      return received
        .map((message) => ({ message, place: chance() }))
        .toSorted((a, b) => a.place - b.place)
        .map(({ message }) => message);
    },
  };
};

export const faultyBlobs = (blobs: Blobs, chance: Chance, rate: number): Blobs => {
  const isLost = () => chance() < rate;
  return {
    ...blobs,
    put: async (key, content) => {
      const facts = await orLost(isLost, () => blobs.put(key, content));
      return orLost(isLost, async () => facts);
    },
    head: (key) => orLost(isLost, () => blobs.head(key)),
    get: (key, options) => orLost(isLost, () => blobs.get(key, options)),
    remove: (key) => orLost(isLost, () => blobs.remove(key)),
  };
};

const orLost = async <T>(isLost: () => boolean, call: () => Promise<T>): Promise<T> => {
  if (isLost()) throw new Error("the reply was lost");
  return call();
};
