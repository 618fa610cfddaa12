import { rateLimitOver } from "@mailproof/core/access/rate";
import type { AppWorld } from "@mailproof/core/app-world";
import type { Message, Queue, Receiving, Sent } from "@mailproof/core/queue";

/**
 * What happens to one call at a door. After a crash nothing of the process goes on, and nobody hears from it. One
 * that stalls goes on when everybody has long given it up.
 */
export type Fault = "crash" | "stall" | "lost_before" | "lost_after" | "partial";

/** `partial` is for a queue that takes some messages, refuses others and leaves us in doubt about the rest. */
export const FAULTS: readonly Fault[] = ["crash", "stall", "lost_before", "lost_after", "partial"];

const STALL_MS = 7 * 60_000;

/** Asked before every call: which fault it meets, if any. */
export type Plan = () => Fault | undefined;

export type House = AppWorld & { readonly queue: Queue & Receiving };

let turn = 0;

/** Each of the four fates in turn, whichever message is first. */
const partlySent = (
  queue: Queue,
  name: string,
  messages: readonly Message[],
): Promise<readonly Sent[]> =>
  Promise.all(
    messages.map(async (message) => {
      const fate = turn++ % 4;
      if (fate === 0) return "refused" as const;
      if (fate === 1) return "unknown" as const;
      await queue.sendMany(name, [message]);
      return fate === 2 ? ("unknown" as const) : ("sent" as const);
    }),
  );

export type Process = {
  readonly world: House;
  readonly crashed: Promise<"crashed">;
};

const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** A process of ours: the same doors as all others have, and faults of its own. */
export const processOn = (house: House, plan: Plan, latencyMs: () => number): Process => {
  const { promise: crashed, resolve: crash } = Promise.withResolvers<"crashed">();
  let isDead = false;
  const alive = <T>(value: T): T | Promise<T> => (isDead ? never() : value);

  const pause = async (): Promise<void> => {
    const ms = latencyMs();
    if (ms > 0) await house.sleep(ms);
    await alive(undefined);
  };

  const call = async <T>(
    act: () => Promise<T>,
    lost: () => T,
    partly: () => T | Promise<T> = lost,
  ): Promise<T> => {
    await pause();
    const fault = plan();
    if (fault === "crash") {
      isDead = true;
      crash("crashed");
      return never();
    }
    if (fault === "stall") await house.sleep(STALL_MS);
    if (fault === "lost_before") return lost();
    if (fault === "partial") return partly();
    const came = await act();
    await pause();
    return fault === "lost_after" ? lost() : came;
  };

  const silent = (): never => {
    throw new Error("the reply was lost");
  };
  const ambiguous = () => ({ outcome: "ambiguous" }) as const;

  const table: AppWorld["table"] = {
    get: (key) => call(() => house.table.get(key), silent),
    query: (query) => call(() => house.table.query(query), silent),
    write: (write) => call(() => house.table.write(write), ambiguous),
    transact: (writes) => call(() => house.table.transact(writes), ambiguous),
  };
  const { queue } = house;
  const world: House = {
    ...house,
    table,
    queue: {
      ...queue,
      sendMany: (name, messages) =>
        call(
          () => queue.sendMany(name, messages),
          () => messages.map(() => "unknown" as const),
          () => partlySent(queue, name, messages),
        ),
      receive: (facts, options) =>
        call(
          () => queue.receive(facts, options),
          () => [],
        ),
      done: (receipt) => call(() => queue.done(receipt), silent),
    },
    blobs: {
      ...house.blobs,
      put: (key, content) => call(() => house.blobs.put(key, content), silent),
      head: (key) => call(() => house.blobs.head(key), silent),
      get: (key, options) => call(() => house.blobs.get(key, options), silent),
    },
    https: {
      ...house.https,
      call: (request) =>
        call(
          () => house.https.call(request),
          () => ({ kind: "failed", why: "timeout" }),
        ),
    },
    rateLimit: rateLimitOver(table, house.now),
    sleep: async (ms, signal) => {
      await house.sleep(ms, signal);
      await alive(undefined);
    },
  };
  return { world, crashed };
};
