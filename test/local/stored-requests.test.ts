import { join } from "node:path";
import { listRequests } from "@mailproof/core/requests/list-requests";
import { createBufferedRequestLog } from "@mailproof/local/server/request-log";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, test } from "vitest";
import { givenWorld } from "../app/given.ts";
import { createFolder } from "../servers/running.ts";

/** A log over the table, with nothing that stores it by itself. */
const givenLog = () => {
  const { world, table, later } = givenWorld();
  const { log, flush, stop } = createBufferedRequestLog(table, world.now);
  stop();
  let count = 0;
  const record = (
    owner = "acc_1",
    code: "INTERNAL" | null = null,
    by: "account" | "visitor" = "account",
  ) => {
    later(1);
    const at = world.now().toISOString();
    const entry = {
      id: `req_${++count}`,
      at,
      status: code ? 500 : 200,
      ms: 1,
      keyId: "key_1",
      code,
    };
    return log(owner, { ...entry, route: "POST /v1/verify" }, by);
  };
  const countItems = () => table.items().filter(({ pk }) => pk.startsWith("REQUESTS#")).length;
  const readIds = async (owner: string, limit = 5_000) => {
    const ids: string[] = [];
    let after: readonly [string, number] | undefined;
    do {
      const page = await listRequests(table, { owner }, { limit, after });
      ids.push(...page.requests.map(({ id }) => id));
      after = page.next;
    } while (after);
    return ids;
  };
  return { record, flush, countItems, readIds, later };
};

test("the request log stores a second's requests as one item per owner and lists them newest first", async () => {
  const { record, flush, countItems, readIds } = givenLog();
  for (let at = 0; at < 30; at++) await record(at % 3 === 0 ? "acc_2" : "acc_1");

  const before = countItems();
  await flush();

  expect([before, countItems()]).toEqual([0, 2]);
  expect((await readIds("acc_2")).slice(0, 3)).toEqual(["req_28", "req_25", "req_22"]);
  expect(await readIds("acc_1")).toHaveLength(20);
});

test("the request log stores a burst in parts that fit the table, each request once", async () => {
  const { record, flush, countItems, readIds } = givenLog();
  for (let at = 0; at < 999; at++) await record("acc_1");
  await flush();
  await flush();

  const ids = await readIds("acc_1");

  expect(countItems()).toBe(2);
  expect(ids).toHaveLength(999);
  expect(new Set(ids).size).toBe(999);
});

test.each([1, 7, 10, 29])("pages of %i requests continue inside an item", async (limit) => {
  const { record, flush, readIds } = givenLog();
  for (let at = 1; at <= 30; at++) {
    await record();
    if (at % 10 === 0) await flush();
  }

  expect(await readIds("acc_1", limit)).toEqual(
    Array.from({ length: 30 }, (_, at) => `req_${30 - at}`),
  );
});

test("an owner may store a thousand successes and a thousand failures per hour", async () => {
  const { record, flush, readIds, later } = givenLog();
  for (let at = 0; at < 1_100; at++) {
    await record("acc_1");
    await record("acc_1", "INTERNAL");
  }
  await record("acc_2");
  await flush();
  const firstHour = [await readIds("acc_1"), await readIds("acc_2")];

  later(3_600_000);
  await record("acc_1");
  await flush();

  expect(firstHour.map((ids) => ids.length)).toEqual([2_000, 1]);
  expect(await readIds("acc_1")).toHaveLength(2_001);
});

test("visitors who fill their part of the request log leave the account's own part free", async () => {
  const { record, flush, readIds } = givenLog();
  for (let at = 0; at < 1_100; at++) await record("acc_1", "INTERNAL", "visitor");
  await record("acc_1", "INTERNAL");
  await flush();

  expect(await readIds("acc_1")).toHaveLength(1_001);
  expect(await readIds("acc_1")).toContain("req_1101");
});

test("a stop stores the requests in memory", async () => {
  const table = createSqliteTable(join(createFolder(), "state.sqlite"), () => new Date());
  const { log, flush, stop } = createBufferedRequestLog(table, () => new Date());
  const entry = { id: "req_1", status: 500, ms: 3, keyId: "key_1", code: "INTERNAL" } as const;
  const at = new Date().toISOString();
  await log("acc_1", { ...entry, at, route: "GET /v1/jobs" }, "account");
  stop();

  await flush();

  const { requests } = await listRequests(table, { owner: "acc_1" }, { limit: 10 });
  table.close();
  expect(requests).toMatchObject([entry]);
});
