import { MessageChannel } from "node:worker_threads";
import {
  type Item,
  type Json,
  type Table,
  type TableQuery,
  toPosition,
  type Write,
} from "@mailproof/core/ports/table";
import { createDynamoTable } from "@mailproof/functions/aws/dynamo-table";
import { createCalls } from "@mailproof/local/engine-threads/calls";
import {
  createRemoteTable,
  createTableHandlers,
  type TableHandlers,
} from "@mailproof/local/engine-threads/table-calls";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, onTestFinished, test } from "vitest";
import { createEmulatedAws, DYNAMODB } from "../aws/emulators.ts";
import { createTable } from "../aws/resources.ts";
import { asRows } from "../runner/as-rows.ts";
import { type Adapters, describeAdapters } from "../runner/describe-when.ts";
import { createFaultyTable } from "../simulation/faults.ts";
import { memoryTable } from "../simulation/memory-table.ts";

// One behaviour for every adapter of the table.
type OpenAt = (now: () => Date) => Table | Promise<Table>;

const openDynamo: OpenAt = async (now) => {
  const aws = await createEmulatedAws({ now });
  return createDynamoTable(aws, await createTable(aws));
};

/** As an engine thread has it. */
const openThroughPort: OpenAt = (now) => {
  const { port1, port2 } = new MessageChannel();
  const served = createCalls(port1);
  served.serve(createTableHandlers(createSqliteTable(":memory:", now)));
  const remote = createCalls<TableHandlers>(port2);
  onTestFinished(() => port1.close());
  return createRemoteTable(remote);
};

const START_SECONDS = 1_800_000_000;
const key = (sk: string) => ({ pk: "P", sk });
/** A transaction returns what it left where the table can. */
const committed = ({ returnsItems }: Table, ...items: readonly (Item | undefined)[]) => ({
  outcome: "committed",
  ...(returnsItems && { items }),
});
const purse = { ...key("purse"), halves: 10, version: 1, owner: "ann" };

const adapters: Adapters<OpenAt> = [
  ["on memory", memoryTable],
  ["on sqlite", (now) => createSqliteTable(":memory:", now)],
  ["on sqlite, through a message port", openThroughPort],
  ["on dynamodb", openDynamo, DYNAMODB],
];

describeAdapters("table", adapters, (openAt) => {
  const givenTable = async () => {
    let seconds = START_SECONDS;
    const table = await openAt(() => new Date(seconds * 1000));
    return { table, later: (passed: number) => void (seconds += passed) };
  };
  const givenPurse = async () => {
    const { table, later } = await givenTable();
    await table.write({ create: purse });
    return { table, later };
  };

  test.each(asRows<[string, Write]>`
  create refuses an existing item | ${{ create: purse }}
  checkAbsent refuses an existing item | ${{ checkAbsent: key("purse") }}
  update refuses a missing item | ${{ update: key("no"), set: { a: 1 } }}
  update refuses another value | ${{ update: key("purse"), where: { version: 2 }, set: { a: 1 } }}
  update refuses a value of another kind | ${{ update: key("purse"), where: { version: "1" } }}
  update refuses none of several values | ${{ update: key("purse"), where: { owner: { oneOf: ["bo", "cy"] } } }}
  update refuses a number that is not below | ${{ update: key("purse"), where: { halves: { below: 10 } } }}
  update refuses a number that is too low | ${{ update: key("purse"), where: { halves: { atLeast: 11 } } }}
  update refuses a text that is not below | ${{ update: key("purse"), where: { owner: { below: "ann" } } }}
  update refuses to compare what cannot be compared | ${{ update: key("purse"), where: { owner: { atLeast: 1 } } }}
  update refuses a field that should be missing | ${{ update: key("purse"), where: { owner: { missing: true } } }}
  update refuses when one of two conditions fails | ${{ update: key("purse"), where: { version: 1, owner: "bo" } }}
  update refuses a missing field that should be something | ${{ update: key("purse"), where: { gone: { below: 9 } } }}
  add refuses to go below its bound | ${{ update: key("purse"), add: { halves: -11 }, bounds: { halves: { atLeast: 0 } } }}
  add refuses to go above its bound | ${{ update: key("purse"), add: { halves: 1 }, bounds: { halves: { atMost: 10 } } }}
  add refuses a first amount beyond its bound | ${{ update: key("new"), add: { n: 2 }, bounds: { n: { atMost: 1 } }, orCreate: true }}
  remove refuses another value | ${{ remove: key("purse"), where: { version: 2 } }}
  remove refuses a missing item | ${{ remove: key("no") }}
  check refuses another value | ${{ check: key("purse"), where: { version: 2 } }}
  check refuses a missing item | ${{ check: key("no"), where: {} }}
`)("the table reports that %s, and writes nothing", async (_case, refused) => {
    const { table } = await givenPurse();
    const before = { create: key("before") };
    const after = { create: key("after") };

    expect(await table.transact([before, refused, after])).toEqual({
      outcome: "refused",
      refusedWrite: refused,
    });
    expect(await table.write(refused)).toEqual({ outcome: "refused", refusedWrite: refused });

    expect((await table.query({ pk: "P", limit: 10 })).items).toEqual([purse]);
  });

  test.each(asRows<[string, Write, Item | undefined]>`
  create makes an item | ${{ create: { ...key("new"), a: [1, { b: null }] } }} | ${{ ...key("new"), a: [1, { b: null }] }}
  put replaces whatever is there | ${{ put: { ...key("purse"), a: 1 } }} | ${{ ...key("purse"), a: 1 }}
  put makes what is not there | ${{ put: { ...key("new"), a: 1 } }} | ${{ ...key("new"), a: 1 }}
  update sets, adds and removes fields
    | ${{ update: key("purse"), set: { owner: undefined, note: "x" }, add: { halves: -10, spent: 10 }, where: { version: 1 }, bounds: { halves: { atLeast: 0 } } }}
    | ${{ ...key("purse"), halves: 0, spent: 10, version: 1, note: "x" }}
  update holds when one of several values is there | ${{ update: key("purse"), where: { owner: { oneOf: ["bo", "ann"] } }, set: { a: 1 } }} | ${{ ...purse, a: 1 }}
  update holds below a bound | ${{ update: key("purse"), where: { halves: { below: 11 }, owner: { below: "b" } }, set: { a: 1 } }} | ${{ ...purse, a: 1 }}
  update holds at a bound | ${{ update: key("purse"), where: { halves: { atLeast: 10 }, owner: { atLeast: "ann" } }, set: { a: 1 } }} | ${{ ...purse, a: 1 }}
  update holds while a field is missing | ${{ update: key("purse"), where: { gone: { missing: true } }, set: { a: 1 } }} | ${{ ...purse, a: 1 }}
  update makes an item when it may | ${{ update: key("new"), add: { n: 2 }, set: { a: 1 }, bounds: { n: { atMost: 2 } }, orCreate: true }}
    | ${{ ...key("new"), n: 2, a: 1 }}
  remove removes | ${{ remove: key("purse"), where: { version: 1 } }} | ${undefined}
  check leaves things as they are | ${{ check: key("purse"), where: { owner: "ann" } }} | ${purse}
  an absent item is left absent | ${{ checkAbsent: key("new") }} | ${undefined}
`)(
    "the result of a write is equal alone and in a transaction: %s",
    async (_case, write, expected) => {
      const writtenItem = Object.values(write)[0] as Item;
      const alone = await givenPurse();
      const concurrent = await givenPurse();

      expect(await alone.table.write(write)).toEqual({ outcome: "committed", item: expected });
      expect(await concurrent.table.transact([write])).toEqual(
        committed(concurrent.table, expected),
      );

      expect(await alone.table.get(writtenItem)).toEqual(expected);
      expect(await concurrent.table.get(writtenItem)).toEqual(expected);
    },
  );

  test("a hundred concurrent takers never take more than the item contains", async () => {
    const { table } = await givenPurse();
    const takeUpdate: Write = {
      update: key("purse"),
      add: { halves: -1 },
      bounds: { halves: { atLeast: 0 } },
    };

    const results = await Promise.all(
      Array.from({ length: 100 }, () => table.transact([takeUpdate])),
    );

    expect(results.filter((one) => one.outcome === "committed")).toHaveLength(10);
    expect(await table.get(key("purse"))).toMatchObject({ halves: 0 });
  });

  test("concurrent creators of one item agree on one of them", async () => {
    const { table } = await givenTable();
    const made = await Promise.all(
      Array.from({ length: 20 }, (_row, n) => table.transact([{ create: { ...key("one"), n } }])),
    );

    expect(made.filter((one) => one.outcome === "committed")).toHaveLength(1);
  });

  test("the next read returns a committed write", async () => {
    const { table } = await givenTable();
    await Promise.all([
      table.transact([{ put: { ...key("a"), n: 1 } }]),
      table.write({ put: { ...key("b"), n: 2 } }),
    ]);

    expect(await table.get(key("a"))).toMatchObject({ n: 1 });
    expect(await table.get(key("b"))).toMatchObject({ n: 2 });
  });

  test.each<Json>([
    "",
    "\u{1F600}é",
    0.1,
    -1.5,
    1e21,
    Number.MAX_SAFE_INTEGER + 2,
    null,
    [],
    [null, "", [1, { a: [] }]],
    {},
    { constructor: "of a field's name" },
    { constructor: { name: "Set" }, size: 1, toString: null },
    { a: { constructor: { name: "Map" } } },
  ])("a field keeps the value %j", async (json) => {
    const { table } = await givenTable();
    const item = { pk: "P", sk: "1", json };

    await table.write({ put: item });
    const updated = await table.write({ update: item, set: { again: json } });
    await table.transact([{ put: { ...item, sk: "2" } }]);

    expect(await table.get(item)).toEqual({ ...item, again: json });
    expect(updated).toMatchObject({ item: { ...item, again: json } });
    const { items } = await table.query({ pk: "P", limit: 9, sk: { from: "2", to: "2" } });
    expect(items).toEqual([{ ...item, sk: "2" }]);
  });

  test("a refused update returns the stored item with any fields", async () => {
    const { table, later } = await givenTable();
    const old = { ...key("a"), json: { constructor: 1 }, n: 1e21, expires_at: START_SECONDS + 5 };
    await table.write({ put: old });
    later(5);

    const update: Write = { update: key("a"), add: { n: 1 }, orCreate: true };
    expect(await table.transact([update])).toMatchObject({ outcome: "committed" });
    expect(await table.get(key("a"))).toEqual({ ...key("a"), n: 1 });
  });

  test("an expired item is absent to every read and every write, although the table still stores it", async () => {
    const { table, later } = await givenTable();
    const claim = {
      ...key("claim"),
      by: "ann",
      list_pk: "L",
      list_sk: "1",
      expires_at: START_SECONDS + 60,
    };
    await table.write({ create: claim });
    later(59);
    expect(await table.get(key("claim"))).toEqual(claim);
    later(1);

    expect(await table.get(key("claim"))).toBeUndefined();
    expect((await table.query({ pk: "P", limit: 9 })).items).toEqual([]);
    expect((await table.query({ index: "list", pk: "L", limit: 9 })).items).toEqual([]);
    expect(await table.write({ check: key("claim"), where: {} })).toMatchObject({
      outcome: "refused",
    });
    expect(await table.write({ remove: key("claim") })).toMatchObject({ outcome: "refused" });
    expect(await table.write({ update: key("claim"), set: { by: "bo" } })).toMatchObject({
      outcome: "refused",
    });
    const counted = await table.write({ update: key("claim"), add: { n: 1 }, orCreate: true });
    expect(counted).toEqual({ outcome: "committed", item: { ...key("claim"), n: 1 } });
  });

  test("a writer can create an expired claim anew", async () => {
    const { table, later } = await givenTable();
    await table.write({ create: { ...key("claim"), by: "ann", expires_at: START_SECONDS + 60 } });
    later(60);

    expect(await table.transact([{ create: { ...key("claim"), by: "bo" } }])).toMatchObject({
      outcome: "committed",
    });
    expect(await table.get(key("claim"))).toEqual({ ...key("claim"), by: "bo" });
  });

  const givenRows = async (names: readonly string[]) => {
    const { table } = await givenTable();
    for (const name of names) await table.write({ create: key(name) });
    return table;
  };
  const getNames = async (table: Table, query: Omit<TableQuery, "pk" | "limit">) => {
    const { items } = await table.query({ pk: "P", limit: 100, ...query });
    return items.map((item) => item.sk);
  };

  test("a query returns items in byte order, unlike JavaScript's order", async () => {
    // In UTF-16 units the emoji sorts before U+FF5E; in bytes it sorts after.
    const table = await givenRows(["a2", "a10", "\u{1F600}", "\u{FF5E}", "Z"]);
    const inBytes = ["Z", "a10", "a2", "\u{FF5E}", "\u{1F600}"];

    expect(await getNames(table, {})).toEqual(inBytes);
    expect(await getNames(table, { newestFirst: true })).toEqual(inBytes.toReversed());
  });

  test("a query returns only items of its prefix or its range", async () => {
    const table = await givenRows(["a", "a#1", "a#2", "a#\u{10FFFF}z", "a$", "b"]);

    expect(await getNames(table, { sk: { prefix: "a#" } })).toEqual([
      "a#1",
      "a#2",
      "a#\u{10FFFF}z",
    ]);
    expect(await getNames(table, { sk: { from: "a#1", to: "a$" } })).toEqual([
      "a#1",
      "a#2",
      "a#\u{10FFFF}z",
      "a$",
    ]);
    expect(await getNames(table, { sk: { prefix: "c" } })).toEqual([]);
  });

  test.each([true, false])(
    "pages neither skip nor repeat rows during inserts (newest first: %s)",
    async (newestFirst) => {
      const old = Array.from({ length: 20 }, (_row, n) => `row${String(n * 2).padStart(3, "0")}`);
      const table = await givenRows(old);
      const seen: string[] = [];
      let after: TableQuery["after"];
      let page = 0;
      do {
        const found = await table.query({
          pk: "P",
          limit: 3,
          newestFirst,
          ...(after && { after }),
        });
        seen.push(...found.items.map((item) => item.sk));
        after = found.next;
        // Between any two pages a row appears before and after the place where the reader stands.
        await table.write({ create: key(`row${String(page++ * 2 + 1).padStart(3, "0")}`) });
        await table.write({ create: key(`row${String(39 - page * 2).padStart(3, "0")}x`) });
      } while (after);

      expect(seen.filter((name) => old.includes(name))).toEqual(
        newestFirst ? old.toReversed() : old,
      );
      expect(new Set(seen).size).toBe(seen.length);
    },
  );

  test("an index lists the items of its key in its own order, and pages through equal sort keys", async () => {
    const { table } = await givenTable();
    const listed = ["c", "a", "b"].map((sk) => ({
      pk: `X${sk}`,
      sk,
      list_pk: "L",
      list_sk: "same",
    }));
    for (const item of listed) await table.write({ create: item });
    await table.write({ create: { ...key("other"), list_pk: "M", list_sk: "same" } });
    await table.write({ create: { ...key("unlisted"), list_pk: "L" } });

    const first = await table.query({ index: "list", pk: "L", limit: 2 });
    const second = await table.query({
      index: "list",
      pk: "L",
      limit: 2,
      ...(first.next && { after: first.next }),
    });

    expect(first.items).toHaveLength(2);
    expect([...first.items, ...second.items].map((item) => item.sk).toSorted()).toEqual([
      "a",
      "b",
      "c",
    ]);
    expect(second.next).toBeUndefined();
  });

  test("an item leaves an index with its fields and enters another", async () => {
    const { table } = await givenTable();
    await table.write({ create: { ...key("job"), due_pk: "DUE", due_sk: "2026-11-21T00:01" } });
    const querySchedule = () =>
      table.query({ index: "due", pk: "DUE", sk: { from: "0", to: "2026-11-21T00:02" }, limit: 9 });
    expect((await querySchedule()).items).toHaveLength(1);

    const done = { due_pk: undefined, due_sk: undefined, list_pk: "DONE", list_sk: "1" };
    await table.write({ update: key("job"), set: done });

    expect((await querySchedule()).items).toEqual([]);
    expect((await table.query({ index: "list", pk: "DONE", limit: 9 })).items).toHaveLength(1);
  });

  test("a reader that stops in the middle of a page continues right after its last item", async () => {
    const table = await givenRows(["a", "b", "c"]);
    const { items } = await table.query({ pk: "P", limit: 9 });
    const [, second] = items;
    if (!second) throw new Error("the row is gone");

    expect(await getNames(table, { after: toPosition(second) })).toEqual(["c"]);
  });

  test("the last page contains no next key, even when it is full", async () => {
    const table = await givenRows(["a", "b"]);

    expect(await table.query({ pk: "P", limit: 2 })).not.toHaveProperty("next");
    expect(await table.query({ pk: "P", limit: 1 })).toHaveProperty("next");
  });

  test.each(asRows<[string, readonly Write[], string]>`
  two writes on one item | ${[{ create: purse }, { check: purse, where: {} }]} | touches one item twice
  101 writes | ${Array.from({ length: 101 }, (_row, n) => ({ create: key(`${n}`) }))} | 101 writes
  no write | [] | without writes
  a sort key over 1,024 bytes | ${[{ create: key("é".repeat(513)) }]} | over 1024 bytes
  a key that is not well formed | ${[{ create: key("\ud800") }]} | not well formed
  an empty key of an index | ${[{ put: { ...key("a"), list_pk: "" } }]} | list_pk key is empty
  an end in half a second | ${[{ put: { ...key("a"), expires_at: 1.5 } }]} | whole seconds
  an amount that is none | ${[{ update: key("a"), add: { n: Number.NaN } }]} | not a number
  a field that is set and added to | ${[{ update: key("a"), set: { n: 1 }, add: { n: 1 } }]} | sets and adds one field
  a condition without values | ${[{ update: key("a"), where: { n: { oneOf: [] } } }]} | nothing meets
  more than four million bytes | ${Array.from({ length: 20 }, (_row, n) => ({ create: { ...key(`${n}`), text: "x".repeat(240_000) } }))} | a transaction of
  an empty key | ${[{ create: { pk: "P", sk: "" } }]} | key is empty
  a change of a key | ${[{ update: key("a"), set: { sk: "b" } }]} | does not touch the key
  a bound on what is not added | ${[{ update: key("a"), bounds: { n: { atLeast: 0 } } }]} | can be bounded
`)("the table refuses %s, as DynamoDB does", async (_case, writes, words) => {
    await expect((await givenTable()).table.transact(writes)).rejects.toThrow(words);
  });

  test("an addition to a field that is no number throws an error, and affects no concurrent write", async () => {
    const { table } = await givenPurse();
    const [wrong, right] = await Promise.allSettled([
      table.write({ update: key("purse"), add: { owner: 1 } }),
      table.write({ update: key("purse"), add: { halves: 1 } }),
    ]);

    expect(wrong).toMatchObject({
      status: "rejected",
      reason: { message: expect.stringContaining("owner is not a number") },
    });
    expect(right).toMatchObject({ status: "fulfilled" });
    expect(await table.get(key("purse"))).toEqual({ ...purse, halves: 11 });
  });

  test("a field that every object inherits is missing until a write sets it", async () => {
    const { table } = await givenPurse();

    const first = await table.write({
      update: key("purse"),
      add: { constructor: 1 },
      where: { valueOf: { missing: true as const } },
    });

    expect(first).toEqual({ outcome: "committed", item: { ...purse, constructor: 1 } });
  });

  test.each([
    ["an empty page", { pk: "P", limit: 0 }],
    ["half an item", { pk: "P", limit: 1.5 }],
    ["a range that ends before it starts", { pk: "P", limit: 1, sk: { from: "b", to: "a" } }],
    ["an empty key", { pk: "", limit: 1 }],
  ])("the table refuses a query for %s", async (_case, query) => {
    await expect((await givenTable()).table.query(query)).rejects.toThrow(RangeError);
  });

  test("one transaction contains up to 100 writes", async () => {
    const { table } = await givenTable();
    const many = Array.from({ length: 100 }, (_row, n) => ({ create: key(`${n}`) }));

    expect(await table.transact(many)).toEqual(
      committed(table, ...many.map(({ create }) => create)),
    );
    expect((await table.query({ pk: "P", limit: 200 })).items).toHaveLength(100);
  });

  test("an item over 250,000 bytes throws an error, and affects no concurrent write", async () => {
    const { table } = await givenTable();
    const [large, small] = await Promise.allSettled([
      table.transact([
        { create: key("first") },
        { put: { ...key("large"), text: "é".repeat(130_000) } },
      ]),
      table.transact([{ put: { ...key("small"), text: "é".repeat(120_000) } }]),
    ]);

    expect(large).toMatchObject({ status: "rejected" });
    expect(small).toMatchObject({ status: "fulfilled" });
    expect(await getNames(table, {})).toEqual(["small"]);
  });

  test("a transaction with a lost reply is ambiguous, and either all of its writes exist or none", async () => {
    const { table } = await givenTable();
    const seen = new Set<string>();
    for (let n = 0; n < 8; n++) {
      // Call n loses its request or its reply, or nothing, by turns.
      let calls = 0;
      const unsure = createFaultyTable(table, () => ((calls++ + n) % 3 === 0 ? 0 : 1), 0.5);
      const { outcome } = await unsure.transact([
        { create: key(`a${n}`) },
        { create: key(`b${n}`) },
      ]);
      const stored = [await table.get(key(`a${n}`)), await table.get(key(`b${n}`))];
      expect(new Set(stored.map((item) => item !== undefined)).size).toBe(1);
      seen.add(`${outcome} ${stored[0] ? "written" : "not written"}`);
    }

    expect([...seen].toSorted()).toEqual([
      "ambiguous not written",
      "ambiguous written",
      "committed written",
    ]);
  });
});
