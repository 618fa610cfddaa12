import { createRateLimit } from "@mailproof/core/accounts/rate-limit";
import type { AppWorld } from "@mailproof/core/app-world";
import type { Message, Queue, QueueReceiver, SendOutcome } from "@mailproof/core/ports/queue";
import { CURRENT, type Release } from "../app/release.ts";

/**
 * What happens to one call of a port. After a crash the process does nothing more, and sends no response. One
 * that stalls goes on when everybody has long given it up.
 */
export type Fault = "crash" | "stall" | "lost_before" | "lost_after" | "partial";

/** `partial` is for a queue that takes some messages, refuses others and leaves us in doubt about the rest. */
export const FAULTS: readonly Fault[] = ["crash", "stall", "lost_before", "lost_after", "partial"];

const STALL_MS = 7 * 60_000;

/** Asked before every call: which fault it meets, if any. */
export type Plan = () => Fault | undefined;

export type SimulatedWorld = AppWorld & { readonly queue: Queue & QueueReceiver };

/** Each of the four fates in turn, from one that the history's own chance draws. */
const sendPartly = (
  { queue, random }: SimulatedWorld,
  name: string,
  messages: readonly Message[],
): Promise<readonly SendOutcome[]> => {
  const first = Math.floor(random() * 4);
  return Promise.all(
    messages.map(async (message, at) => {
      const fate = (first + at) % 4;
      if (fate === 0) return "refused" as const;
      if (fate === 1) return "unknown" as const;
      await queue.sendMany(name, [message]);
      return fate === 2 ? ("unknown" as const) : ("sent" as const);
    }),
  );
};

export type Process = {
  readonly world: SimulatedWorld;
  readonly crashed: Promise<"crashed">;
  /** Whose code it runs. */
  readonly release: Release;
};

const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** A process of ours: the same ports as all others have, and faults of its own. */
export const createProcess = (
  ctx: SimulatedWorld,
  plan: Plan,
  latencyMs: () => number,
  release: Release = CURRENT,
): Process => {
  const { promise: crashed, resolve: crash } = Promise.withResolvers<"crashed">();
  let isDead = false;
  const alive = <T>(value: T): T | Promise<T> => (isDead ? never() : value);

  const addLatency = async (): Promise<void> => {
    const ms = latencyMs();
    if (ms > 0) await ctx.sleep(ms);
    await alive(undefined);
  };

  const callPort = async <T>(
    act: () => Promise<T>,
    onLost: () => T,
    partly: () => T | Promise<T> = onLost,
  ): Promise<T> => {
    await addLatency();
    const fault = plan();
    if (fault === "crash") {
      isDead = true;
      crash("crashed");
      return never();
    }
    if (fault === "stall") await ctx.sleep(STALL_MS);
    if (fault === "lost_before") return onLost();
    if (fault === "partial") return partly();
    const result = await act();
    await addLatency();
    return fault === "lost_after" ? onLost() : result;
  };

  const loseReply = (): never => {
    throw new Error("the reply was lost");
  };
  const ambiguous = () => ({ outcome: "ambiguous" }) as const;

  const table: AppWorld["table"] = {
    get: (key) => callPort(() => ctx.table.get(key), loseReply),
    query: (query) => callPort(() => ctx.table.query(query), loseReply),
    write: (write) => callPort(() => ctx.table.write(write), ambiguous),
    transact: (writes) => callPort(() => ctx.table.transact(writes), ambiguous),
  };
  const { queue } = ctx;
  const world: SimulatedWorld = {
    ...ctx,
    table,
    queue: {
      ...queue,
      sendMany: (name, messages) =>
        callPort(
          () => queue.sendMany(name, messages),
          () => messages.map(() => "unknown" as const),
          () => sendPartly(ctx, name, messages),
        ),
      receive: (spec, options) =>
        callPort(
          () => queue.receive(spec, options),
          () => [],
        ),
      acknowledge: (receipt) => callPort(() => queue.acknowledge(receipt), loseReply),
    },
    blobs: {
      ...ctx.blobs,
      put: (key, content) => callPort(() => ctx.blobs.put(key, content), loseReply),
      head: (key) => callPort(() => ctx.blobs.head(key), loseReply),
      get: (key, options) => callPort(() => ctx.blobs.get(key, options), loseReply),
      remove: (key) => callPort(() => ctx.blobs.remove(key), loseReply),
    },
    https: {
      ...ctx.https,
      call: (request) =>
        callPort(
          () => ctx.https.call(request),
          () => ({ kind: "failed", why: "timeout" }),
        ),
    },
    rateLimit: createRateLimit(table, ctx.now),
    sleep: async (ms, signal) => {
      await ctx.sleep(ms, signal);
      await alive(undefined);
    },
  };
  return { world, crashed, release };
};
