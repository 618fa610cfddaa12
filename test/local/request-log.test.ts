import { spawnSync } from "node:child_process";
import { request } from "node:http";
import { join } from "node:path";
import { setImmediate as runTurn } from "node:timers/promises";
import { endpoints } from "@mailproof/api/endpoints";
import { listRequests } from "@mailproof/core/requests/list-requests";
import { createLineLog } from "@mailproof/local/line-log";
import { CONNECTION_LIMITS } from "@mailproof/local/server/connections";
import { createBufferedRequestLog } from "@mailproof/local/server/request-log";
import type { FinishedRequest } from "@mailproof/local/server/request-record";
import { createApiServer } from "@mailproof/local/server/server";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, onTestFinished, test, vi } from "vitest";
import { given, givenWorld } from "../app/given.ts";
import { eventually } from "../runner/eventually.ts";
import { createFolder, whenStarted } from "../servers/running.ts";

const EMAIL = "ada.lovelace@valid.lab.mailproof.test";

test("each request logs a line with its route, status, key and account, and no address", async () => {
  const { ready, readLog, stop } = await whenStarted(createFolder());
  const headers = { "x-api-key": ready.live_key, "content-type": "application/json" };
  const answers = [
    await fetch(`${ready.base_url}/v1/activity/${encodeURIComponent(EMAIL)}`, { headers }),
    await fetch(`${ready.base_url}/v1/verify`, {
      method: "POST",
      headers,
      body: JSON.stringify({ email: EMAIL }),
    }),
    await fetch(`${ready.base_url}/v1/account`, { headers: { "x-api-key": "mp_live_wrong" } }),
    await fetch(`${ready.base_url}/v1/nothing?email=${EMAIL}`),
    await fetch(`${ready.base_url}/docs`),
  ];
  const ids = answers.map((answer) => answer.headers.get("x-request-id"));
  await Promise.all(answers.map((answer) => answer.text()));
  await stop("SIGTERM");

  const lines = readLog();
  const requests = lines.filter(({ event }) => event === "request");
  const { account_id: account } = ready;
  expect(requests).toMatchObject([
    { id: ids[0], route: "GET /v1/activity/{email}", status: 200, account, aborted: false },
    { id: ids[1], route: "POST /v1/verify", status: 200, account, level: "info" },
    { id: ids[2], route: "GET /v1/account", status: 401, key: null, account: null },
    { id: ids[3], route: null, status: 404 },
    { route: "document", status: 200 },
  ]);
  for (const one of requests) expect(one["ms"]).toBeTypeOf("number");
  expect(requests[1]?.["key"]).toMatch(/^key_/);
  expect(JSON.stringify(lines)).not.toContain("ada.lovelace");
  expect(lines[0]).toMatchObject({ event: "started", url: ready.base_url });
  expect(lines.at(-1)).toMatchObject({ event: "stopped" });
});

test("LOG_LEVEL warn suppresses the lines for a request, a start and a stop", async () => {
  const { ready, readLog, stop } = await whenStarted(createFolder(), [], { LOG_LEVEL: "warn" });
  expect((await fetch(`${ready.base_url}/health`)).status).toBe(200);
  await stop("SIGTERM");

  expect(readLog().map(({ event }) => event)).not.toContain("request");
  expect(readLog().map(({ event }) => event)).not.toContain("started");
});

test("a client that hangs up before its response is logged as aborted, without a status", async () => {
  const { world, liveKey } = await given();
  const finished: FinishedRequest[] = [];
  const server = createApiServer(world, () => undefined, endpoints, CONNECTION_LIMITS, {
    onRequest: (one) => finished.push(one),
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };

  const sent = request({
    port,
    method: "POST",
    path: "/v1/verify",
    headers: { "x-api-key": liveKey, "content-type": "application/json", "content-length": 1000 },
  });
  sent.on("error", () => {});
  sent.write("{");
  await eventually(() => expect(server.listening).toBe(true));
  server.once("request", () => setImmediate(() => sent.destroy()));

  await eventually(() => expect(finished).toHaveLength(1));
  expect(finished[0]).toMatchObject({ status: null, aborted: true, route: "POST /v1/verify" });
});

const NOW = new Date("2026-11-26T10:00:00.000Z");

test("the server's log writes all lines of one turn at once and in order", async () => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const log = createLineLog("info", () => NOW);
  log("started", { pid: 1 });
  log("stopped", { pid: 2 });
  await runTurn();
  log("started", { pid: 3 });
  await runTurn();

  const line = (event: string, pid: number) =>
    `{"at":"2026-11-26T10:00:00.000Z","level":"info","event":"${event}","pid":${pid}}\n`;
  expect(write.mock.calls.map(([text]) => text)).toEqual([
    line("started", 1) + line("stopped", 2),
    line("started", 3),
  ]);
  write.mockRestore();
});

test.each([
  ["ends", "process.exit(0)"],
  ["fails", 'throw new Error("broken")'],
])("the server's log writes a line from just before the process %s", (_, ending) => {
  const script = `
    const { createLineLog } = await import("@mailproof/local/line-log");
    createLineLog("info", () => new Date())("stopped", { pid: 7 });
    ${ending}`;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    encoding: "utf8",
  });

  expect(stderr).toContain('"event":"stopped","pid":7}\n');
});

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
