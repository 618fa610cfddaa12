import type { Table } from "@mailproof/core/ports/table";
import { createSessionShares } from "@mailproof/core/smtp-pool/fairness";
import type { Process } from "@mailproof/core/smtp-pool/process-rules";
import { createProviderRegistry } from "@mailproof/core/smtp-pool/providers";
import { decide } from "@mailproof/core/smtp-pool/slots/decide";
import { parseProviderState } from "@mailproof/core/smtp-pool/slots/provider-state";
import { createSharedSlots } from "@mailproof/core/smtp-pool/slots/slot-pool";
import {
  createTurnHolder,
  type Slot,
  type SlotRequest,
  toSlotKey,
} from "@mailproof/core/smtp-pool/slots/slots";
import { describe, expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { askAll, givenCluster, hostAt, kind } from "./cluster.ts";

// Processes share a server through one item: what that costs, and what happens to a slot.

const HOST = hostAt("mx01.mail.icloud.com");
const SLOT_KEY = toSlotKey(HOST);
const ROOMY = toSlotKey(hostAt("mx.example.com"));
/** Longer than the lease of a slot that is never released. */
const LEASE_MS = 200_000;

const isShared = ({ pk }: { readonly pk: string }): boolean => pk.startsWith("PROVIDER#");

/** Counts the calls about mail providers, and no others. */
const counting = () => {
  const count = { reads: 0, writes: 0 };
  const tableOf = (table: Table): Table => ({
    ...table,
    get: (key) => {
      if (isShared(key)) count.reads++;
      return table.get(key);
    },
    write: (write) => {
      if ("update" in write && isShared(write.update)) count.writes++;
      return table.write(write);
    },
  });
  return { count, tableOf };
};

const givenSlots = () => {
  const ctx = givenWorld();
  const slots = () => createSharedSlots(ctx.world);
  const take = async (from = slots()): Promise<Slot> => {
    const acquired = await from.acquire(SLOT_KEY);
    if (acquired.kind !== "acquired") throw new Error("no slot is free");
    return acquired.slot;
  };
  return { ...ctx, slots, take };
};

test("a process that freezes right after its response holds no slot", async () => {
  const { engines, table } = givenCluster(1, kind);

  await askAll(engines, 1);

  // A Lambda is frozen here. What it would write from now on is not written.
  const shared = table.items().filter(isShared);
  expect(shared).toHaveLength(1);
  expect(shared.flatMap((item) => [...parseProviderState(item, "all").slots.keys()])).toEqual([]);
});

const WELL = { refusal: null, needsCooldown: false };

test("a session costs one read and two writes", async () => {
  const { count, tableOf } = counting();
  const { engines, sessions, world } = givenCluster(1, kind, { tableOf });

  await askAll(engines, 1_000);
  await world.sleep(1_000);

  expect(count).toEqual({ reads: sessions.length, writes: 2 * sessions.length });
});

test("a process that waits for a backoff to end sends no command meanwhile", async () => {
  const { count, tableOf } = counting();
  const { engines, world } = givenCluster(
    3,
    (line, session) =>
      session === 1 && line.startsWith("RCPT") ? "421 4.7.0 too busy" : kind(line, session),
    { tableOf },
  );
  const [first, ...others] = engines.map((engine) => [engine]);
  const all = [askAll(first ?? [], 20)];
  await world.sleep(1_000);
  all.push(...others.map((other) => askAll(other, 20)));
  await world.sleep(1_000);
  const before = { ...count };

  await world.sleep(27_000);

  expect(before.reads).toBeGreaterThan(1);
  expect(count).toEqual(before);
  await Promise.all(all);
});

test("a slot stays acquired until its release", async () => {
  const { slots, take } = givenSlots();
  const slot = await take();
  expect(await slots().acquire(SLOT_KEY)).toMatchObject({ kind: "full" });

  await slot.release(WELL);

  await take();
});

test("a process acquires no slot of a paused mail provider, even if it read the state before the pause", async () => {
  const { world, table, slots } = givenSlots();
  const acquired = await slots().acquire(ROOMY);
  const { promise: looked, resolve: look } = Promise.withResolvers<void>();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const late = createSharedSlots({
    ...world,
    table: {
      ...table,
      write: async (write) => {
        look();
        await closed;
        return table.write(write);
      },
    },
  });

  const taking = late.acquire(ROOMY);
  await looked;
  if (acquired.kind === "acquired")
    await acquired.slot.release({ refusal: null, needsCooldown: true });
  close();

  expect(await taking).toMatchObject({ kind: "backoff", backoff: { ms: 5_000 } });
});

test("a process that releases a slot too late does not release another process's slot", async () => {
  const { slots, take, later } = givenSlots();
  const late = await take();
  later(LEASE_MS);
  await take();

  await late.release(WELL);

  expect(await slots().acquire(SLOT_KEY)).toMatchObject({ kind: "full" });
});

const askFor = (account: string): SlotRequest => ({
  queue: createTurnHolder(),
  requester: { account, priority: "list" },
  batch: 1,
  sessionLength: 50,
  recipients: 1,
  mayLeave: false,
});

test("a process takes turns with others in the wait queue, even if it would be first", async () => {
  const { slots, take } = givenSlots();
  const [ours, theirs] = [slots(), slots()];
  const [anns, bobs] = [askFor("ann"), askFor("bob")];
  const slot = await take(ours);
  expect(await theirs.acquire(SLOT_KEY, bobs)).toMatchObject({ kind: "full" });

  await slot.release(WELL);

  expect(await ours.acquire(SLOT_KEY, anns)).toMatchObject({ kind: "full" });
  expect(await slots().acquire(SLOT_KEY, bobs)).toMatchObject({ kind: "acquired" });
});

test("concurrent sessions of one process share one ticket", async () => {
  const { world, take, table } = givenSlots();
  await take();
  /** What was written is known later than what was refused. */
  const write: Table["write"] = async (one) => {
    const written = await table.write(one);
    if (written.outcome === "committed") await world.sleep(10);
    return written;
  };
  const ours = createSharedSlots({ ...world, table: { ...table, write } });
  const anns = askFor("ann");

  await Promise.all([ours.acquire(SLOT_KEY, anns), ours.acquire(SLOT_KEY, anns)]);

  const fields = Object.entries(table.items().find(isShared) ?? {});
  expect(fields.filter(([field]) => field.startsWith("draws")).map(([, count]) => count)).toEqual([
    1,
  ]);
});

test("recipients that a session did not reach keep their place in the queue", async () => {
  const { slots, take } = givenSlots();
  const bobs = askFor("bob");
  const slot = await take();
  const theirs = slots();
  await theirs.acquire(SLOT_KEY, bobs);
  const { ticket } = bobs.queue.turn;
  await slot.release(WELL);
  const own = await slots().acquire(SLOT_KEY, bobs);

  if (own.kind === "acquired") await own.slot.release(WELL, { ms: 9, answered: 0, remaining: 1 });

  expect(ticket).not.toBeNull();
  expect(bobs.queue.turn.ticket).toEqual(ticket);
});

test("a process keeps its own backoff when the table does not store the backoff", async () => {
  const { world, table, take } = givenSlots();
  let isAway = false;
  const away: Table["write"] = (write) =>
    isAway ? Promise.reject(new Error("the table is away")) : table.write(write);
  const slot = await take(createSharedSlots({ ...world, table: { ...table, write: away } }));
  isAway = true;

  expect(await slot.release({ refusal: null, needsCooldown: true })).toMatchObject({ ms: 5_000 });
});

test("a process acquires a slot again after its write was lost, so that no other process takes it", async () => {
  const { world, table, slots, take } = givenSlots();
  let writes = 0;
  const write: Table["write"] = async (one) =>
    writes++ === 0 ? { outcome: "ambiguous" } : table.write(one);
  await take(createSharedSlots({ ...world, table: { ...table, write } }));

  expect(await slots().acquire(SLOT_KEY)).toMatchObject({ kind: "full" });
});

test("all processes use one key for a mail provider, in any order of its addresses", () => {
  const ips = ["198.51.100.9", "192.0.2.7"];

  expect(toSlotKey({ ...HOST, host: "mx.example", ips })).toEqual(
    toSlotKey({ ...HOST, host: "mx.example", ips: ips.toReversed() }),
  );
});

test("each stored item of a mail provider stays below a kilobyte, and expires", async () => {
  const { engines, table, later } = givenCluster(5, (line, session) =>
    line.startsWith("RCPT") ? `421 4.7.0 ${"busy ".repeat(300)}` : kind(line, session),
  );
  void askAll(engines, 100);
  await new Promise((resolve) => setImmediate(resolve));
  await askAll(engines, 1);

  const items = table.items().filter(isShared);

  expect(items.length).toBe(1);
  for (const item of items) expect(JSON.stringify(item).length).toBeLessThan(1_024);
  later(3_600_000);
  expect(table.items().filter(isShared)).toEqual([]);
});

describe("the rules within a process", () => {
  // Goal: what this process knows of a recipient, an account or a host queue decides before the provider is asked.

  const SLOT_KEY = toSlotKey({ host: "mx.example.com", priority: 10, ips: ["192.0.2.1"] });
  const CONNECTIONS = SLOT_KEY.slots.length;
  const REFUSAL = {
    isLasting: true,
    refusal: {
      host: "mx.example.com",
      ip: "192.0.2.1",
      stage: "mail",
      reply: { code: 550, enhanced: "5.7.1", text: "blocked" },
    },
  } as const;

  type Recipient = NonNullable<Process["recipient"]>;
  type Queue = NonNullable<Process["queue"]>;

  const decideForRecipient = (change: Partial<Recipient>) => {
    const free = {
      isOverDailyLimit: false,
      refusal: null,
      isTurnedAway: false,
      isExitClosed: false,
    };
    return decide({ recipient: { ...free, ...change } }, null);
  };

  const decideForQueue = (change: Partial<Queue>, provider: Partial<Queue["provider"]> = {}) => {
    const use = createProviderRegistry().getProviderUse(SLOT_KEY);
    const queue: Queue = {
      provider: { ...use, ...provider },
      host: { sessions: 0, queues: 1, withoutPipelining: 0 },
      slotKey: SLOT_KEY,
      sessions: 0,
      isFull: false,
      hasJustOpened: false,
      gathersFor: null,
      opener: { account: "ann", priority: "list" },
      isHeld: false,
      recipients: 3,
      batchSize: 25,
      mayAcquire: true,
    };
    return decide({ queue: { ...queue, ...change } }, null).kind;
  };

  test("a recipient returns first for the daily limit, then for the circuit, then for the backoff", () => {
    const all = {
      isOverDailyLimit: true,
      refusal: REFUSAL,
      isTurnedAway: true,
      isExitClosed: true,
    };

    expect(decideForRecipient(all)).toEqual({ kind: "answer", why: "daily_limit" });
    expect(decideForRecipient({ ...all, isOverDailyLimit: false })).toEqual({
      kind: "answer",
      why: "circuit",
      refusal: REFUSAL,
    });
    expect(decideForRecipient({ isTurnedAway: true, isExitClosed: true })).toEqual({
      kind: "answer",
      why: "backoff",
    });
  });

  test("a recipient leaves an exit that is closed to it, and otherwise asks the provider", () => {
    expect(decideForRecipient({ isExitClosed: true }).kind).toBe("leave");
    expect(decideForRecipient({}).kind).toBe("ask");
  });

  test("an account waits once it holds four times as many sessions as are free", () => {
    const open = (count: number, free: number) => decide({ account: { open: count, free } }, null);

    expect(open(39, 10).kind).toBe("ask");
    expect(open(40, 10).kind).toBe("join");
  });

  test("a list gets fewer free sessions than a caller, even while no session is open", () => {
    const shares = createSessionShares(100);

    expect(shares.count({ account: "ann", priority: "caller" })).toEqual({ open: 0, free: 100 });
    expect(shares.count({ account: "ann", priority: "list" })).toEqual({ open: 0, free: 90 });
  });

  test("a queue joins the sessions of its host or provider once they reach the limit", () => {
    const host = (sessions: number) => ({ host: { sessions, queues: 1, withoutPipelining: 0 } });

    expect(decideForQueue(host(CONNECTIONS - 1))).toBe("ask");
    expect(decideForQueue(host(CONNECTIONS))).toBe("join");
    expect(decideForQueue({}, { sessions: CONNECTIONS })).toBe("join");
  });

  test("a queue opens one session after a backoff, and none during the backoff", () => {
    expect(decideForQueue({}, { failures: 1 })).toBe("ask");
    expect(decideForQueue({}, { failures: 1, sessions: 1 })).toBe("join");
    expect(decideForQueue({}, { isBackingOff: true })).toBe("join");
  });

  test("a queue collects recipients after a session has begun, unless none is open or the next one would be full", () => {
    const begun = { hasJustOpened: true, sessions: 1 };

    expect(decideForQueue(begun)).toBe("gather");
    expect(decideForQueue({ ...begun, sessions: 0 })).toBe("ask");
    expect(decideForQueue({ ...begun, recipients: 25 })).toBe("ask");
  });

  test("a queue collects the rows of a large list, and neither its callers nor another account's rows", () => {
    const gathersFor = "ann";

    expect(decideForQueue({ gathersFor })).toBe("gather");
    expect(decideForQueue({ gathersFor, opener: { account: "ann", priority: "caller" } })).toBe(
      "ask",
    );
    expect(decideForQueue({ gathersFor, opener: { account: "bo", priority: "list" } })).toBe("ask");
  });

  test("a queue pauses while this process holds every slot of the host, or found none free", () => {
    expect(decideForQueue({ mayAcquire: false })).toBe("pause");
    expect(decideForQueue({ isFull: true })).toBe("pause");
  });
});
