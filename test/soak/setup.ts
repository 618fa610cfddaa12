import { globSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { createClient } from "@mailproof/client/index";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import type { PlanId } from "@mailproof/core/money/plans";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { type Done, type PaidRange, runCustomer } from "./customers.ts";
import { computeMedian } from "./figures.ts";
import {
  measureMachineMs,
  measureUsage,
  startBeside,
  startReceiver,
  startService,
} from "./service.ts";

// The network, the service, the customers, and their results.

export type TimedResult = Done & { readonly atMs: number };
export type Sample = ReturnType<typeof measureUsage> & {
  readonly atMs: number;
  readonly machineMs: number;
};

export type Opened = { readonly account: string; readonly live: string; readonly test: string };

export type Wanted = {
  readonly seed: number;
  readonly customers: number;
  readonly pauseMs: number;
};

const CREDITS = 1_000_000;
const SAMPLE_MS = 5_000;
const SAMPLES_PER_LINE = 12;
const HEALTH_MS = 200;
const HEALTH = {
  name: "health",
  paid: { least: 0, most: 0 },
  asked: 0,
  undecided: 0,
  isLie: false,
};

export const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

/** Before the server starts: the folder is then its own. */
export const openAccounts = async (
  folder: string,
  plans: Readonly<Record<string, PlanId>>,
  amount = CREDITS,
): Promise<Readonly<Record<string, Opened>>> => {
  const environment = readEnvironment({ MAILPROOF_DIR: folder, DEMO: "off" });
  const { world, close } = createApp(environment, () => "", null);
  const opened: Record<string, Opened> = {};
  for (const [name, plan] of Object.entries(plans)) {
    const opening = credits(amount);
    const { account, liveKey, testKey } = await openAccount(world, { name, plan, opening });
    opened[name] = { account, live: liveKey, test: testKey };
  }
  close();
  return opened;
};

export const startSoak = async ({ seed, customers, pauseMs }: Wanted) => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-soak-"));
  const names = Array.from({ length: customers }, (_, number) => `customer ${number}`);
  const plans = Object.fromEntries(names.map((name) => [name, "scale" as const]));
  const accounts = await openAccounts(join(folder, "state"), plans);
  const network = await startBeside<Readonly<Record<string, string>>>("lab.ts");
  const service = await startService(folder, network.first);
  const receiver = await startReceiver();
  const failures: number[] = [];
  const counted: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    if (response.status >= 500) failures.push(response.status);
    return response;
  };
  const clients = names.map((name) => {
    const key = accounts[name]?.live ?? "";
    return createClient({ baseUrl: service.baseUrl, key, retries: 12, fetch: counted });
  });
  for (const client of clients)
    await client.createWebhook({ url: receiver.url, events: ["job.completed"] });
  const startMs = performance.now();
  const results: TimedResult[] = [];
  const samples: Sample[] = [];

  /** Customers send request after request, and the server is measured, until the soak ends. Resolves when all are answered. */
  const runUntil = async (endMs: number): Promise<void> => {
    const isOver = () => performance.now() >= endMs;
    const watch = async () => {
      while (!isOver()) {
        await setTimeout(SAMPLE_MS);
        const atMs = performance.now() - startMs;
        const used = measureUsage(service.pid());
        samples.push({ atMs, machineMs: measureMachineMs(), ...used });
        if (samples.length % SAMPLES_PER_LINE === 0) {
          // Another program of the machine makes all answers late for a while: here one sees when.
          const machineMs = computeMedian(
            samples.slice(-SAMPLES_PER_LINE).map((one) => one.machineMs),
          );
          printLine(
            `  after ${Math.round(atMs / 1_000)} s: ${results.length} requests, ${used.megabytes.toFixed(0)} MB of memory, ${(measureFiles(service.state).table / 2 ** 20).toFixed(0)} MB of table, ${machineMs.toFixed(1)} ms for the same piece of work`,
          );
        }
      }
    };
    const askHealth = async () => {
      while (!isOver()) {
        const from = performance.now();
        const { status } = await fetch(`${service.baseUrl}/health`);
        const tookMs = performance.now() - from;
        const wrong = status === 200 ? null : `is ${status}`;
        results.push({ ...HEALTH, tookMs, spentMs: tookMs, wrong, atMs: from + tookMs - startMs });
        await setTimeout(HEALTH_MS);
      }
    };
    await Promise.all([
      watch(),
      askHealth(),
      ...clients.map((client, number) =>
        runCustomer(
          client,
          { seed: seed * 1_000 + number, hook: receiver.url, pauseMs },
          (done) => void results.push({ ...done, atMs: performance.now() - startMs }),
          isOver,
        ),
      ),
    ]);
  };

  /** Stops all. What hosts deferred continues as jobs for half an hour, and is held; every batch and file was waited for. */
  const settle = async () => {
    const balances = await Promise.all(clients.map((client) => client.getAccount()));
    await service.stop("SIGTERM");
    receiver.close();
    network.end();
    const audit = await service.command("admin", "audit");
    return { audit, money: moneyOf(results, balances) };
  };

  const conclude = (faults: readonly string[]): void => {
    const found = faults.filter((fault) => fault !== "");
    printLine(found.length === 0 ? "\nIt lasts." : `\nFaults: ${found.join("; ")}.`);
    if (found.length === 0) rmSync(folder, { recursive: true, force: true });
    process.exitCode = found.length === 0 ? 0 : 1;
  };

  printLine(`${customers} customers, seed ${seed}; state in ${service.state}`);
  return {
    service,
    receiver,
    startMs,
    results,
    failures,
    samples,
    runUntil,
    settle,
    conclude,
  };
};

export type Soak = Awaited<ReturnType<typeof startSoak>>;

type Balance = { readonly credits: { readonly spent: number; readonly held: number } };

const moneyOf = (results: readonly TimedResult[], balances: readonly Balance[]) => {
  const sum = (bound: keyof PaidRange) =>
    results.reduce((total, { paid }) => total + paid[bound], 0);
  const spent = balances.reduce((total, { credits: of }) => total + of.spent, 0);
  const held = balances.reduce((total, { credits: of }) => total + of.held, 0);
  const [least, most] = [sum("least"), sum("most")];
  return { least, most, spent, held, isRight: least <= spent + held && spent + held <= most };
};

/** What was done, what went wrong, what it made on the disk, and what it cost. */
export const reportWork = (
  { results, failures, receiver, service }: Soak,
  { audit, money }: Awaited<ReturnType<Soak["settle"]>>,
): void => {
  printLine(`\nWhat was done: ${results.length} requests, ${receiver.calls()} webhooks received`);
  for (const [name, all] of Map.groupBy(results, (done) => done.name))
    printLine(`  ${name.padEnd(20)} ${String(all.length).padStart(7)}`);
  const wrong = results.filter((done) => done.wrong !== null);
  printLine(`\nUnexpected responses: ${wrong.length}`);
  for (const [words, all] of Map.groupBy(wrong, (done) => `${done.name}: ${done.wrong ?? ""}`))
    printLine(`  ${String(all.length).padStart(5)} × ${words.slice(0, 160)}`);
  printLine(`Responses of 5xx, which clients repeated: ${failures.join(", ") || "none"}`);
  printLine("\nWhat the files hold");
  for (const line of describeContents(service.state)) printLine(`  ${line}`);
  printLine(
    `\nThe money: customers' responses say ${money.least} to ${money.most}, their accounts spent ${money.spent} and hold ${money.held}.`,
  );
  printLine(`Audit: ${JSON.stringify(audit)}`);
};

/** The bytes of the table's file with its log, and of all stored files. */
const measureFiles = (state: string) => {
  const getBytes = (pattern: string): number =>
    globSync(pattern, { cwd: state }).reduce((sum, file) => {
      const found = statSync(join(state, file), { throwIfNoEntry: false });
      return sum + (found?.isFile() ? found.size : 0);
    }, 0);
  return { table: getBytes(`${TABLE}*`), blobs: getBytes("blobs/**") };
};

const TABLE = "state.sqlite";

/** What makes the table's file as large as it is: by kind of item, how many and how many bytes of text. */
const describeContents = (state: string): readonly string[] => {
  const { table, blobs } = measureFiles(state);
  const db = new DatabaseSync(join(state, TABLE), { readOnly: true });
  const kinds = db
    .prepare(
      `SELECT substr(pk, 1, instr(pk || '#', '#') - 1) AS kind, count(*) AS items,
         sum(length(CAST(item AS BLOB))) AS text,
         sum(length(pk) + length(sk) + coalesce(length(list_pk) + length(list_sk), 0) + coalesce(length(due_pk) + length(due_sk), 0)) AS keys
       FROM items GROUP BY kind ORDER BY text + keys DESC`,
    )
    .all() as { kind: string; items: number; text: number; keys: number }[];
  const pragma = (name: string) => Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
  const free = pragma("freelist_count") * pragma("page_size");
  db.close();
  const explained = kinds.reduce((sum, { text, keys }) => sum + text + 3 * keys, 0);
  return [
    `the table's file ${megabytes(table)}, of it free ${megabytes(free)}; stored files ${megabytes(blobs)}`,
    `text of items and three times their keys (table and indexes): ${megabytes(explained)}`,
    ...kinds.map(
      ({ kind, items, text }) =>
        `${kind.padEnd(20)} ${String(items).padStart(8)} items ${megabytes(text).padStart(10)}`,
    ),
  ];
};

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;
