import { UnreadableBlobError } from "@mailproof/core/ports/blobs";
import type { Amounts, Item, ItemPage, Table, Update, Write } from "@mailproof/core/ports/table";
import { getItemKey } from "@mailproof/core/ports/writes";
import type { SimulatedWorld } from "./process.ts";
import type { Mutant } from "./run-script.ts";

// A test that cannot fail proves nothing. Each of these builds one thing wrongly, below the code and by its writes
// alone; the simulation must find out.

type Transact = Table["transact"];
export type Change = (ctx: SimulatedWorld) => SimulatedWorld;

const is = (prefix: string) => (write: Write) => getItemKey(write).pk.startsWith(prefix);
const isClaim = is("CLAIM#");
const isBalance = is("BALANCE#");
const isOperation = is("OPERATION#");
const isEntry = is("LEDGER#");
const isEvent = is("EVENT#");
const isChunk = is("CHUNKS#");
const isJob = is("JOB#");
const isIndex = is("INDEX#");
const isDeferred = is("DEFERRED#");
const isCheck = is("CHECK#");
const isLatest = is("LATEST#");
const isUsage = is("USAGE#");
const isVerdictCount = is("VERDICTCOUNTS#");
const isMailTest = is("MAILTEST#");
const isSpent = is("SPENT#");

const transacting =
  (change: (transact: Transact, ctx: SimulatedWorld) => Transact): Change =>
  (ctx) => ({
    ...ctx,
    table: { ...ctx.table, transact: change((writes) => ctx.table.transact(writes), ctx) },
  });

/** A process that writes in two steps may crash between them. */
const goesOn = ({ random }: SimulatedWorld): boolean => random() < 0.5;

/** Every write of a transaction changed, or left out. */
const writing = (change: (write: Write) => Write | null): Change =>
  transacting((transact) => (writes) => transact(writes.flatMap((one) => change(one) ?? [])));

const isEndOf = (write: Write): boolean =>
  "create" in write && isEntry(write) && write.create.sk.endsWith("~end");

const moves = (writes: readonly Write[], move: string): boolean =>
  writes.some(
    (write) => isEndOf(write) && move in ((write as { create: Item }).create["moved"] as object),
  );

const isCancelling = (write: Write): write is Update =>
  "update" in write && isJob(write) && write.set?.["status"] === "cancelled";

const isFreeing = (write: Write): boolean =>
  "update" in write &&
  isJob(write) &&
  write.where?.["child"] !== undefined &&
  !write.set?.["child"];

const isExpiring = (write: Write): write is Update =>
  "update" in write && isMailTest(write) && write.set?.["status"] === "expired";

const isReceiving = (write: Write): write is Update =>
  "update" in write && isMailTest(write) && write.set?.["status"] === "assessing";

let doubleWrites = 0;

/** What keeps an operation from ending twice: its removal, the one key its last entry can have, and the totals. */
const dropConditions = (write: Write): Write[] => {
  if (isOperation(write)) return [];
  if ("update" in write && isBalance(write))
    return [{ update: write.update, add: write.add ?? {} }];
  return "create" in write && isEntry(write)
    ? [{ create: { ...write.create, sk: `${write.create.sk}-${++doubleWrites}` } }]
    : [write];
};

const isResolving = (write: Write): boolean =>
  "create" in write && isEntry(write) && write.create.sk.includes("~chunk-");

const withOwnKey = (write: Write): Write[] =>
  "create" in write && isEntry(write)
    ? [{ create: { ...write.create, sk: `${write.create.sk}-${++doubleWrites}` } }]
    : [write];

/** The removal happens all the same, but stops no process. */
const removeSeparately =
  (change: (write: Write) => Write[], applies: (writes: readonly Write[]) => boolean): Change =>
  (ctx) => {
    const { table } = ctx;
    const transact: Transact = async (writes) => {
      if (!applies(writes)) return table.transact(writes);
      const result = await table.transact(writes.flatMap(change));
      if (result.outcome === "committed")
        for (const write of writes)
          if (isOperation(write) && "remove" in write)
            await table.write({ remove: getItemKey(write) });
      return result;
    };
    return { ...ctx, table: { ...table, transact } };
  };

/** The part of a transfer between two shards: no entry changes what is granted besides a grant. */
const isDrawnFrom = (write: Write): boolean =>
  "update" in write && isBalance(write) && (write.add?.["granted"] ?? 0) < 0;
const isDrawnBy = (write: Write): boolean =>
  "update" in write && isBalance(write) && (write.add?.["granted"] ?? 0) > 0;
const isDraw = (writes: readonly Write[]): boolean => writes.some(isDrawnFrom);

const withoutDraw = (write: Write): Write => {
  if (!("update" in write) || !isDrawnBy(write)) return write;
  const { granted = 0, available = 0, ...add } = write.add ?? {};
  return { ...write, add: { ...add, available: available - granted } };
};

const below = (changes: Readonly<Record<string, Change>>): Readonly<Record<string, Mutant>> =>
  Object.fromEntries(
    Object.entries(changes).map(([name, change]) => [name, { belowFaults: change }]),
  );

const notFalling = (amounts: Amounts): Amounts =>
  Object.fromEntries(Object.entries(amounts).filter(([, by]) => by >= 0));

const UNRELATED_WRITE: Write = { checkAbsent: { pk: "NOBODY", sk: "NOBODY" } };

/** Above the faults: what the process makes of what it hears. */
const MISREAD_OUTCOMES: Mutant = {
  aboveFaults: (ctx) => ({
    ...ctx,
    table: {
      ...ctx.table,
      transact: async (writes) => {
        const result = await ctx.table.transact(writes);
        return result.outcome === "ambiguous"
          ? { outcome: "refused", refusedWrite: UNRELATED_WRITE }
          : result;
      },
    },
  }),
};

/** What is damaged is hoped to be whole the next time. */
const OPTIMISTIC: Mutant = {
  belowFaults: (ctx) => ({
    ...ctx,
    blobs: {
      ...ctx.blobs,
      get: async (key, options) => {
        try {
          return await ctx.blobs.get(key, options);
        } catch (error) {
          throw error instanceof UnreadableBlobError ? new Error("no reply") : error;
        }
      },
    },
  }),
};

const isOfLostChunk = (writes: readonly Write[]): boolean =>
  writes.some((write) => "create" in write && isEntry(write) && write.create.sk.includes("~lost-"));

const isOfUnreached = (write: Write): boolean =>
  "create" in write && isEntry(write) && write.create.sk.endsWith("~unreached");

const isDeletion = is("DELETION#");
const isPage = is("RESULTS#");
const isDeleting = (writes: readonly Write[]): boolean =>
  writes.some((write) => isDeletion(write) && "create" in write);

/** A write alone that is reported as done, and is not. */
const withoutWrites =
  (applies: (write: Write) => boolean): Change =>
  (ctx) => ({
    ...ctx,
    table: {
      ...ctx.table,
      write: async (write) =>
        applies(write) ? { outcome: "committed", item: undefined } : ctx.table.write(write),
    },
  });

const unscheduled = (item: Item): Item => ({ ...item, due_pk: undefined, due_sk: undefined });

/** Of the job that these writes delete. */
const removeClaims = async (ctx: SimulatedWorld, writes: readonly Write[]): Promise<void> => {
  for (const write of writes)
    if (isDeletion(write) && "create" in write) {
      const { claim } = write.create as unknown as { claim: { pk: string; sk: string } | null };
      if (claim) await ctx.table.write({ remove: claim });
    }
};

export const MUTANTS: Readonly<Record<string, Mutant>> = {
  "a lost reply is taken for a refusal": MISREAD_OUTCOMES,
  "an input that is damaged is taken for a store that does not answer": OPTIMISTIC,
  ...below({
    "the claim is written after the debit, not with it": transacting(
      (transact) => async (writes) => {
        const claims = writes.filter((write) => "create" in write && isClaim(write));
        const result = await transact(writes.filter((write) => !claims.includes(write)));
        if (result.outcome === "committed" && claims.length > 0) await transact(claims);
        return result;
      },
    ),

    "the balance is not held to what it may leave": writing((write) =>
      "update" in write && isBalance(write)
        ? { update: write.update, add: write.add ?? {} }
        : write,
    ),

    "settling is guarded by nothing": removeSeparately(dropConditions, (writes) =>
      moves(writes, "settle"),
    ),
    "a refund is guarded by nothing": removeSeparately(dropConditions, (writes) =>
      moves(writes, "release"),
    ),

    "an owner that was gone too long is not fenced off": removeSeparately(
      (write) => (isOperation(write) && "remove" in write ? [] : [write]),
      (writes) => writes.some((write) => isOperation(write) && "remove" in write),
    ),

    "a refund keeps the key": transacting(
      (transact) => (writes) =>
        transact(moves(writes, "release") ? writes.filter((write) => !isClaim(write)) : writes),
    ),

    "a replay charges": (ctx) => ({
      ...ctx,
      table: {
        ...ctx.table,
        get: async (key) => (key.pk.startsWith("CLAIM#") ? undefined : ctx.table.get(key)),
        transact: (writes) =>
          ctx.table.transact(
            writes.map((write) =>
              "create" in write && isClaim(write) ? { put: write.create } : write,
            ),
          ),
      },
    }),

    "the answer is not remembered with the settling": transacting(
      (transact) => (writes) =>
        transact(moves(writes, "settle") ? writes.filter((write) => !isClaim(write)) : writes),
    ),

    "a chunk that is done twice counts twice": writing((write) =>
      "create" in write && isChunk(write) ? { put: write.create } : write,
    ),

    "a job does not count the rows that no longer wait": writing((write) =>
      "update" in write && isJob(write) && write.add
        ? { ...write, add: notFalling(write.add) }
        : write,
    ),

    "rows stay noted as waiting when they have had their turn": writing((write) =>
      isDeferred(write) && "remove" in write ? null : write,
    ),

    "a chunk has one entry for being settled and another for being refunded, and the job's books are kept apart":
      transacting((transact, ctx) => async (writes) => {
        const isResolution = writes.some(isResolving);
        if (!isResolution) return transact(writes);
        const result = await transact(writes.filter((write) => !isJob(write)).flatMap(withOwnKey));
        if (result.outcome === "committed" && goesOn(ctx)) await transact(writes.filter(isJob));
        return result;
      }),

    "a pass counts though its job has ended": writing((write) =>
      "update" in write && isJob(write) && write.add && "processed" in write.add
        ? { update: write.update, add: write.add }
        : write,
    ),

    "a job is cancelled without a look at what was counted meanwhile": writing((write) =>
      isCancelling(write) ? { ...write, where: { status: write.where?.["status"] ?? "" } } : write,
    ),

    "a cancelled job is refunded apart from its end": transacting(
      (transact, ctx) => async (writes) => {
        const ends = writes.filter(isCancelling);
        if (ends.length === 0 || ends.length === writes.length) return transact(writes);
        const result = await transact(ends);
        if (result.outcome === "committed" && goesOn(ctx))
          await transact(writes.filter((write) => !isCancelling(write)));
        return result;
      },
    ),

    "each of two who cancel a job is refunded": transacting(
      (transact) => (writes) =>
        transact(
          writes.some(isCancelling)
            ? writes
                .flatMap(withOwnKey)
                .map((write) => (isCancelling(write) ? { ...write, where: {} } : write))
            : writes,
        ),
    ),

    "rows of a cancelled job wait on": writing((write) =>
      "update" in write && isChunk(write) && write.set?.["waiting"] === 0 && !write.add
        ? { update: write.update, set: { retryAt: write.set["retryAt"] } }
        : write,
    ),

    "rows that we could not reach are counted, and their refund is not written": transacting(
      (transact) => (writes) =>
        transact(
          writes.some(isOfUnreached)
            ? writes.filter((write) => !isEntry(write) && !isBalance(write) && !isUsage(write))
            : writes,
        ),
    ),

    "a pass that is done again counts the rows that we could not reach again": transacting(
      (transact) => async (writes) => {
        const result = await transact(writes);
        const jobs = writes.filter((write) => "update" in write && isJob(write) && write.add);
        for (const job of jobs as readonly Update[]) {
          const { unreached = 0 } = job.add ?? {};
          if (result.outcome === "committed" && Number(unreached) > 0)
            await transact([{ update: job.update, add: { unreached: Number(unreached) } }]);
        }
        return result;
      },
    ),

    "rows that a child replaces are counted twice": transacting((transact) => async (writes) => {
      const result = await transact(writes);
      const jobs = writes.filter((write) => "update" in write && isJob(write) && write.add);
      for (const { update, add } of jobs as readonly Update[])
        if (result.outcome === "committed" && add?.["replaced"] !== undefined)
          await transact([{ update, add }]);
      return result;
    }),

    "a row that was replaced is found as well": writing((write) =>
      "update" in write && isIndex(write) && write.set?.["replaced"] ? null : write,
    ),

    "a parent is freed apart from the end of its child": transacting(
      (transact, ctx) => async (writes) => {
        const result = await transact(writes.filter((write) => !isFreeing(write)));
        if (result.outcome === "committed" && goesOn(ctx)) {
          const freeing = writes.filter(isFreeing);
          if (freeing.length > 0) await transact(freeing);
        }
        return result;
      },
    ),

    "a check is kept after its payment, not with it": transacting(
      (transact, ctx) => async (writes) => {
        const checks = writes.filter(isCheck);
        const result = await transact(writes.filter((write) => !checks.includes(write)));
        if (result.outcome === "committed" && checks.length > 0 && goesOn(ctx))
          await transact(checks);
        return result;
      },
    ),

    "what another check found in between is written over": writing((write) => {
      if (!isLatest(write)) return write;
      if ("create" in write) return { put: write.create };
      return "update" in write ? { update: write.update, set: write.set ?? {} } : write;
    }),

    "work that a wrong clock deferred waits until its time comes again": (ctx) => ({
      ...ctx,
      table: {
        ...ctx.table,
        query: async (query) => {
          const isAhead = query.index === "due" && query.sk && "from" in query.sk;
          return isAhead && query.sk.from > ctx.now().toISOString()
            ? { items: [] }
            : ctx.table.query(query);
        },
      },
    }),

    "a mail test is refunded apart from its end": transacting((transact, ctx) => async (writes) => {
      const ends = writes.filter(isExpiring);
      if (ends.length === 0) return transact(writes);
      const result = await transact(ends);
      if (result.outcome === "committed" && goesOn(ctx))
        await transact(writes.filter((write) => !isExpiring(write)));
      return result;
    }),

    "a mail is accepted whatever has become of its test": writing((write) =>
      isReceiving(write) ? { update: write.update, set: write.set ?? {} } : write,
    ),

    "the last of two mails counts": writing((write) =>
      "create" in write && isMailTest(write) && write.create.sk === "MAIL"
        ? { put: write.create }
        : isReceiving(write)
          ? { update: write.update, set: write.set ?? {} }
          : write,
    ),

    "usage is not counted": writing((write) => (isUsage(write) ? null : write)),

    "usage of an operation is counted apart from the money": transacting(
      (transact, ctx) => async (writes) => {
        const result = await transact(writes.filter((write) => !isUsage(write)));
        if (result.outcome === "committed" && goesOn(ctx)) await transact(writes.filter(isUsage));
        return result;
      },
    ),

    "spending is counted apart from the money": transacting((transact, ctx) => async (writes) => {
      const result = await transact(writes.filter((write) => !isSpent(write)));
      if (result.outcome === "committed" && goesOn(ctx)) await transact(writes.filter(isSpent));
      return result;
    }),

    "only a read, and not the charge, keeps the limit of a person": writing((write) =>
      "update" in write && isSpent(write) ? { ...write, bounds: {} } : write,
    ),

    "a refund does not reduce what a person spent": writing((write) =>
      "update" in write && isSpent(write) && Number(write.add?.["spent"]) < 0 ? null : write,
    ),

    "a refund names no counter, and reduces none": writing((write) => {
      if ("update" in write && isSpent(write) && Number(write.add?.["spent"]) < 0) return null;
      if (!("create" in write) || !isEntry(write) || write.create.sk.endsWith("~debit"))
        return write;
      return { create: { ...write.create, countedIn: undefined } };
    }),

    "verdicts are not counted": writing((write) => (isVerdictCount(write) ? null : write)),

    "verdicts are counted before their results are stored": transacting(
      (transact) => async (writes) => {
        const counts = writes.filter(isVerdictCount);
        if (counts.length > 0) await transact(counts);
        return transact(writes.filter((write) => !isVerdictCount(write)));
      },
    ),

    "rows that could not be read are counted as refunded, and are not": transacting(
      (transact) => (writes) =>
        transact(
          isOfLostChunk(writes)
            ? writes.filter((write) => isChunk(write) || isJob(write) || isDeferred(write))
            : writes,
        ),
    ),

    "credits that a shard draws from another one are lost": transacting(
      (transact) => (writes) =>
        transact(
          isDraw(writes)
            ? writes.map((write) =>
                isDrawnBy(write) && writes.some(isEntry)
                  ? { ...withoutDraw(write), bounds: {} }
                  : write,
              )
            : writes,
        ),
    ),

    "credits are drawn twice": transacting((transact) => async (writes) => {
      const result = await transact(writes);
      const drawn = writes.filter(isDrawnBy);
      if (result.outcome === "committed" && isDraw(writes) && !writes.some(isEntry))
        await transact(drawn);
      return result;
    }),

    "a shard that gives may fall below zero": writing((write) =>
      "update" in write && isDrawnFrom(write)
        ? { update: write.update, add: write.add ?? {} }
        : write,
    ),

    "credits in the last of the shards are not seen": (ctx) => ({
      ...ctx,
      table: {
        ...ctx.table,
        query: async (query) => {
          const page = await ctx.table.query(query);
          if (!query.pk.startsWith("BALANCE#")) return page;
          const last = page.items.findLast(({ sk }) => sk.startsWith("BALANCE#"));
          return { ...page, items: page.items.filter((item) => item !== last) };
        },
      },
    }),

    "one read of all shards decides that the credits do not suffice": (ctx) => {
      let last: { readonly pk: string; readonly page: ItemPage } | undefined;
      return {
        ...ctx,
        table: {
          ...ctx.table,
          query: async (query) => {
            if (!query.pk.startsWith("BALANCE#")) return ctx.table.query(query);
            const same = last?.pk === query.pk ? last.page : undefined;
            const page = same ?? (await ctx.table.query(query));
            // The second of two reads is the first one again, so the two always agree.
            last = same ? undefined : { pk: query.pk, page };
            return page;
          },
        },
      };
    },

    "an operation is settled in another shard than the one that paid": writing((write) =>
      "create" in write && isOperation(write) ? { create: { ...write.create, shard: 0 } } : write,
    ),

    "a deleted job is served as long as its parts are there": transacting(
      (transact) => (writes) =>
        transact(
          isDeleting(writes)
            ? writes.filter((write) => !("remove" in write && isJob(write)))
            : writes,
        ),
    ),

    "a deletion that a crash interrupts is forgotten": writing((write) =>
      isDeletion(write) && "create" in write ? { create: unscheduled(write.create) } : write,
    ),

    "pages of a deleted job stay": withoutWrites((write) => isPage(write) && "remove" in write),

    "what a worker stores of a job after its deletion stays": (ctx) => ({
      ...ctx,
      table: {
        ...ctx.table,
        write: (write) =>
          ctx.table.write(
            isDeletion(write) && "update" in write && write.set?.["removedAt"] !== undefined
              ? { remove: write.update }
              : write,
          ),
      },
    }),

    "the key of a deleted job may be used again": (ctx) => ({
      ...ctx,
      table: {
        ...ctx.table,
        transact: async (writes) => {
          const result = await ctx.table.transact(writes);
          if (result.outcome === "committed") await removeClaims(ctx, writes);
          return result;
        },
      },
    }),

    "files are not removed": (ctx) => ({
      ...ctx,
      blobs: { ...ctx.blobs, remove: async () => {} },
    }),

    "an erasure leaves the results of jobs as they are": writing((write) =>
      isPage(write) && "update" in write ? null : write,
    ),

    "answers cannot be found by the address that they show": writing((write) =>
      "update" in write && isClaim(write) && write.set?.["list_pk"] !== undefined
        ? { ...write, set: { answer: write.set["answer"] } }
        : write,
    ),

    "news of a low balance is left to chance": writing((write) => (isEvent(write) ? null : write)),
  }),
};
