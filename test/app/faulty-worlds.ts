import type { AppWorld } from "@mailproof/core/app-world";
import { type Blobs, UnreadableBlobError } from "@mailproof/core/ports/blobs";
import type { Message, SendOutcome } from "@mailproof/core/ports/queue";
import type { Key, Table, Write } from "@mailproof/core/ports/table";
import { isAnyCallPending } from "../aws/pending-calls.ts";

// Worlds in which one thing is out of order. The app stays as it is, so a story can go on in a sound one.

type TestContext = { readonly world: AppWorld; readonly table: Table };

export const rejectDown = () => Promise.reject(new Error("the table is down"));

export const withTable = ({ world, table }: TestContext, methods: Partial<Table>): AppWorld => ({
  ...world,
  table: { ...table, ...methods },
});

/** Everything of one kind cannot be read. */
export const withUnreadable = (ctx: TestContext, prefix: string, afterReads = 0): AppWorld => {
  let reads = 0;
  const isDown = ({ pk }: Pick<Key, "pk">) => pk.startsWith(prefix) && reads++ >= afterReads;
  return withTable(ctx, {
    get: (key) => (isDown(key) ? rejectDown() : ctx.table.get(key)),
    query: (query) => (isDown(query) ? rejectDown() : ctx.table.query(query)),
  });
};

/** So much of a blob can no longer be read: its byte at this place. */
export type Damage = (key: string) => number | undefined;

/** A store that finds damage where it reads. What is put later is damaged, too. */
export const createDamagedBlobs = (blobs: Blobs, damage: Damage): Blobs => ({
  ...blobs,
  get: async (key, options = {}) => {
    const at = damage(key);
    const { from, to } = options.range ?? { from: 0, to: Infinity };
    if (at !== undefined && at >= from && at <= to)
      throw new UnreadableBlobError(`${key} cannot be read at byte ${at}`);
    return blobs.get(key, options);
  },
});

export const getWorld = ({ world }: TestContext): AppWorld => world;

export const withBrokenEngine = ({ world }: TestContext): AppWorld => ({
  ...world,
  engine: { ...world.engine, probe: () => Promise.reject(new Error("a bug of ours")) },
});

/** All of its mail servers take this long to answer. */
export const withSlowEngine = ({ world }: TestContext, ms = 20_000): AppWorld => {
  const probe: AppWorld["engine"]["probe"] = async (question) => {
    await world.sleep(ms);
    return world.engine.probe(question);
  };
  return { ...world, engine: { ...world.engine, probe } };
};

/** From one transaction on no reply comes, whether it was written or not; nor can what it wrote be looked up. */
export const withLostReplies = (
  { table }: TestContext,
  world: AppWorld,
  from: number,
  written: boolean,
): AppWorld => {
  let commits = 0;
  const transact: Table["transact"] = async (writes) => {
    if (++commits < from) return table.transact(writes);
    if (written) await table.transact(writes);
    return { outcome: "ambiguous" };
  };
  const get: Table["get"] = (key) =>
    commits >= from && /^(LEDGER|OPERATION|JOB|CLAIM)#/.test(key.pk)
      ? rejectDown()
      : table.get(key);
  return { ...world, table: { ...table, transact, get } };
};

/** Lets this many transactions through and holds up the next until `goOn` is called: a process that stopped. */
export const createStoppingWorld = (ctx: TestContext, after: number) => {
  let commits = 0;
  let goOn: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const transact: Table["transact"] = async (writes) => {
    if (++commits > after) await gate;
    return ctx.table.transact(writes);
  };
  return { world: withTable(ctx, { transact }), goOn };
};

/** Resolves once everything that needs no further input has happened. */
export const runTurn = async (): Promise<void> => {
  do await new Promise((resolve) => setImmediate(resolve));
  while (isAnyCallPending());
};

/** What becomes of a message: `unheard` arrives, but its sender does not learn so. */
export type Fate = SendOutcome | "unheard";

/** The queue does with each chunk of a job what the test says, and by default with every other message what it should. */
export const withMessageFates = (
  { world }: Pick<TestContext, "world">,
  fateOf: (chunk: number) => Fate,
): AppWorld => {
  const { queue } = world;
  const one = async (name: string, message: Message): Promise<SendOutcome> => {
    const { chunk } = message.body as { readonly chunk?: number };
    const fate = chunk === undefined ? "sent" : fateOf(chunk);
    if (fate === "sent" || fate === "unheard") await queue.sendMany(name, [message]);
    return fate === "unheard" ? "unknown" : fate;
  };
  const sendMany: AppWorld["queue"]["sendMany"] = (name, messages) =>
    Promise.all(messages.map((message) => one(name, message)));
  return { ...world, queue: { ...queue, sendMany } };
};

/** When a key was last used, and the record of a request: neither is what a request is about. */
const isRecord = (write: Write): boolean =>
  ("update" in write && write.update.sk === "KEY") ||
  ("put" in write && write.put.pk.startsWith("REQUESTS#"));

/** A process that is gone after this many changes: no port answers it any more. */
export const createProcessGoneAfter = ({ world }: Pick<TestContext, "world">, effects: number) => {
  let done = 0;
  let isGone = false;
  const look = <T>(act: () => Promise<T>) => (isGone ? new Promise<T>(() => undefined) : act());
  const change = <T>(act: () => Promise<T>) => {
    isGone ||= done >= effects;
    if (!isGone) done++;
    return look(act);
  };
  const { table, queue, blobs } = world;
  const gone: AppWorld = {
    ...world,
    table: {
      get: (key) => look(() => table.get(key)),
      query: (query) => look(() => table.query(query)),
      write: (write) => (isRecord(write) ? look : change)(() => table.write(write)),
      transact: (writes) => change(() => table.transact(writes)),
    },
    queue: {
      ...queue,
      sendMany: (name, messages) => change(() => queue.sendMany(name, messages)),
    },
    blobs: {
      ...blobs,
      head: (key) => look(() => blobs.head(key)),
      get: (key, options) => look(() => blobs.get(key, options)),
      put: (key, content) => change(() => blobs.put(key, content)),
    },
  };
  return { world: gone, effects: () => done };
};
