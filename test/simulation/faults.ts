import type { Queue, QueueReceiver } from "@mailproof/core/ports/queue";
import type { Table } from "@mailproof/core/ports/table";

// Faults are injected below the code, by chance that a seed decides: the seed is the bug's whole description.
// A call is lost before it has an effect or after it; the caller cannot tell which, as on a real network.

type Chance = () => number;

export const createFaultyTable = (table: Table, chance: Chance, rate: number): Table => {
  const isDropped = () => chance() < rate;
  const commitOrLose = async <T>(
    commit: () => Promise<T>,
  ): Promise<T | { outcome: "ambiguous" }> => {
    if (isDropped()) return { outcome: "ambiguous" };
    const result = await commit();
    return isDropped() ? { outcome: "ambiguous" } : result;
  };
  return {
    get: (key) => callOrLose(isDropped, () => table.get(key)),
    query: (query) => callOrLose(isDropped, () => table.query(query)),
    write: (write) => commitOrLose(() => table.write(write)),
    transact: (writes) => commitOrLose(() => table.transact(writes)),
  };
};

/** Also hands messages out twice and in another order: a queue promises only "at least once". */
export const createFaultyQueue = <Q extends Queue & QueueReceiver>(
  queue: Q,
  chance: Chance,
  rate: number,
): Q => {
  const shouldFail = () => chance() < rate;
  return {
    ...queue,
    sendMany: async (name, messages) => {
      const outcomes = messages.map(async (message) => {
        if (shouldFail()) return "refused" as const;
        if (shouldFail()) return "unknown" as const;
        await queue.sendMany(name, shouldFail() ? [message, message] : [message]);
        return shouldFail() ? ("unknown" as const) : ("sent" as const);
      });
      return Promise.all(outcomes);
    },
    countDeadLetters: () => callOrLose(shouldFail, () => queue.countDeadLetters()),
    receive: async (settings, options) => {
      const received = await callOrLose(shouldFail, () => queue.receive(settings, options));
      return received
        .map((message) => ({ message, order: chance() }))
        .toSorted((a, b) => a.order - b.order)
        .map(({ message }) => message);
    },
  };
};

const callOrLose = async <T>(isDropped: () => boolean, call: () => Promise<T>): Promise<T> => {
  if (isDropped()) throw new Error("the reply was lost");
  return call();
};
