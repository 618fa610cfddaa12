import { setTimeout } from "node:timers/promises";
import { MessageChannel, Worker } from "node:worker_threads";
import { createSharedSlots } from "@mailproof/core/smtp-pool/slots/slot-pool";
import { toSlotKey } from "@mailproof/core/smtp-pool/slots/slots";
import { type VerifyOptions, verify } from "@mailproof/core/verify/verify";
import { allDomains } from "@mailproof/lab/domains";
import { LAB_ZONE, type Lab, startLab } from "@mailproof/lab/lab";
import { createCalls } from "@mailproof/local/engine-threads/calls";
import { chooseThreads, openEngine } from "@mailproof/local/engine-threads/open-engine";
import {
  createProviderItems,
  createRemoteItems,
  type ProviderHandlers,
} from "@mailproof/local/engine-threads/slot-calls";
import { chooseThread, watchThread } from "@mailproof/local/engine-threads/threaded-engine";
import { readEnvironment } from "@mailproof/local/environment";
import { createCounters } from "@mailproof/local/metrics/counters";
import type { ConnectionObserver } from "@mailproof/local/metrics/observe-connections";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import type { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createFolder, whenStarted } from "../servers/running.ts";

// The engine on threads of its own, before the lab. What the situations of the lab come to stands beside them; here each
// thread has to come to the same.

const OPTIONS: VerifyOptions = { deepVerify: true, includeAi: true, includeEvidence: true };
/** The time that these take is production's patience: with silence, and in the two backoffs before a throttle is one. */
const PATIENT = ["silent", "silentrcpt", "throttled"];
const ADA = `ada.lovelace@valid.${LAB_ZONE}`;

const situations = allDomains
  .filter(({ name }) => !PATIENT.includes(name))
  .flatMap(({ name, examples }) =>
    examples.map(([local, status, reason]) => ({
      email: `${local}@${name}.${LAB_ZONE}`,
      status,
      reason,
    })),
  );

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ slowMs: 30 });
});
afterAll(() => lab.close());

const givenEngine = (threads: number, connections?: ConnectionObserver) => {
  const table = createSqliteTable(":memory:", () => new Date());
  const events: string[] = [];
  const workers: Worker[] = [];
  const note = (worker: Worker) => void workers.push(worker);
  process.on("worker", note);
  const environment = readEnvironment({
    MAILPROOF_DIR: createFolder(),
    ENGINE_THREADS: String(threads),
  });
  const { engine, close } = openEngine(environment, lab, {
    table,
    yieldToCallers: () => undefined,
    log: (event) => void events.push(event),
    connections,
  });
  onTestFinished(() => {
    process.off("worker", note);
    close();
    table.close();
  });
  return { engine, events, workers, close };
};

describe.each([1, 2])("an engine with %i threads", (threads) => {
  test("an engine with threads returns the right verdict for every situation of the lab", async () => {
    const { engine, workers, events } = givenEngine(threads);

    const results = await Promise.all(
      situations.map(async ({ email }) => {
        const { status, reason } = await verify(engine, email, OPTIONS);
        return { email, status, reason };
      }),
    );

    expect(results).toEqual(situations);
    expect(workers).toHaveLength(threads);
    expect(events).not.toContain("engine_thread_ended");
  });

  test("the server verifies an address with its engine threads and stops", async () => {
    const folder = createFolder();
    const { ready, stop } = await whenStarted(folder, [], { ENGINE_THREADS: String(threads) });

    const response = await fetch(`${ready.base_url}/v1/verify`, {
      method: "POST",
      headers: { "x-api-key": ready.live_key, "content-type": "application/json" },
      body: JSON.stringify({ email: ADA }),
    });

    const body: unknown = await response.json();
    expect(body).toMatchObject({ data: { status: "valid" } });
    expect(await stop("SIGTERM")).toMatchObject({ code: 0 });
  });
});

test("an ended thread's requests end as unknown by our own failure, and the next request starts it again", async () => {
  const { engine, events, workers } = givenEngine(1);
  await verify(engine, ADA, OPTIONS);
  const slow = verify(engine, `ada.lovelace@silent.${LAB_ZONE}`, OPTIONS);
  await whenSessionIsOpen();

  await workers[0]?.terminate();

  expect(await slow).toMatchObject({ status: "unknown", reason: "internal" });
  expect(events).toEqual(["engine_thread_ended"]);
  expect(await verify(engine, ADA, OPTIONS)).toMatchObject({ status: "valid" });
  expect(workers).toHaveLength(2);
});

test("a thread that ends during a look-up yields inconclusive, without blaming the domain", async () => {
  const { engine, workers } = givenEngine(1);
  const looked = engine.findMailHosts(`valid.${LAB_ZONE}`);
  await setTimeout(0);

  await workers[0]?.terminate();

  expect(await looked).toMatchObject({ kind: "inconclusive", why: "internal" });
});

test("a closed engine refuses a look-up and starts no thread again", async () => {
  const { engine, workers, close } = givenEngine(1);
  close();

  await expect(engine.findMailHosts(`valid.${LAB_ZONE}`)).rejects.toThrow("closed");
  expect(workers).toEqual([]);
});

const whenSessionIsOpen = async (): Promise<void> => {
  const before = lab.stats().sessions;
  while (lab.stats().sessions === before) await setTimeout(5);
};

const TICK_MS = 1;
const startWorker = (code: string) => {
  const worker = new Worker(code, { eval: true });
  onTestFinished(() => void worker.terminate());
  return createCalls<{ readonly ping: () => null }>(worker);
};

test("the watch reports a blocked event loop once", async () => {
  const { call } = startWorker("for (;;);");
  const hung = Promise.withResolvers<void>();
  let reports = 0;
  watchThread(
    () => call("ping"),
    () => {
      reports++;
      hung.resolve();
    },
    TICK_MS,
  );

  await hung.promise;

  await setTimeout(20 * TICK_MS);
  expect(reports).toBe(1);
});

test("the watch does not report a thread that answers now and then", async () => {
  let pings = 0;
  const watched = Promise.withResolvers<void>();
  const answerEveryThird = async () => {
    pings++;
    if (pings === 60) watched.resolve();
    if (pings % 3 !== 0) await new Promise(() => undefined);
  };

  const stop = watchThread(answerEveryThird, () => watched.reject(new Error("hung")), TICK_MS);

  await expect(watched.promise).resolves.toBeUndefined();
  stop();
});

test("the server counts an engine thread's connections as its own until the thread ends", async () => {
  const { registry, connections } = createCounters();
  const { engine, workers } = givenEngine(1, connections);
  const open = () => readMetric(registry, "mailproof_smtp_sessions_open");
  await verify(engine, ADA, OPTIONS);
  expect(await readMetric(registry, "mailproof_smtp_sessions_total")).toBeGreaterThan(0);
  const slow = verify(engine, `ada.lovelace@silent.${LAB_ZONE}`, OPTIONS);
  await whenSessionIsOpen();
  while ((await open()) === 0) await setTimeout(5);

  await workers[0]?.terminate();

  await slow;
  expect(await open()).toBe(0);
});

const readMetric = async (registry: Registry, name: string): Promise<number> => {
  const found = await registry.getSingleMetric(name)?.get();
  return (found?.values ?? []).reduce((sum, { value }) => sum + value, 0);
};

const host: MailHost = { host: "mx.example.net", priority: 10, ips: ["192.0.2.1"] };
const slotKey = toSlotKey(host);

const givenSlots = () => {
  const providers = createProviderItems();
  const openThread = () => {
    const { port1, port2 } = new MessageChannel();
    createCalls(port1).serve(providers.handlersOf(port1));
    onTestFinished(() => port1.close());
    const table = createRemoteItems(createCalls<ProviderHandlers>(port2));
    const slots = createSharedSlots({
      now: () => new Date(),
      random: Math.random,
      sleep: (ms) => setTimeout(ms),
      table,
    });
    return { slots, end: () => providers.releaseAll(port1) };
  };
  return { first: openThread(), second: openThread() };
};

const acquireAll = async ({ slots }: ReturnType<typeof givenSlots>["first"], times: number) =>
  Promise.all(Array.from({ length: times }, () => slots.acquire(slotKey)));

test("two threads together never exceed the provider's number of sessions", async () => {
  const { first, second } = givenSlots();
  const half = slotKey.connections / 2;

  const taken = [...(await acquireAll(first, half)), ...(await acquireAll(second, half))];

  expect(taken.filter(({ kind }) => kind === "acquired")).toHaveLength(2 * half);
  const full = await second.slots.acquire(slotKey);
  expect(full.kind).toBe("full");
  const [one] = taken;
  if (one?.kind === "acquired") await one.slot.release(null);
  if (full.kind === "full") await setTimeout(full.pauseMs);
  expect((await second.slots.acquire(slotKey)).kind).toBe("acquired");
});

test("an engine thread that ends releases its slots", async () => {
  const { first, second } = givenSlots();
  await acquireAll(first, slotKey.connections);

  await first.end();

  expect((await second.slots.acquire(slotKey)).kind).toBe("acquired");
});

test("the recipients of a domain share one thread, in any order of its hosts", () => {
  const hosts = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map((ip) => ({ ...host, ips: [ip] }));

  const threads = [hosts, hosts.toReversed()].map((order) => chooseThread(order, 7));

  expect(threads[0]).toBe(threads[1]);
});

test("the providers spread over the threads", () => {
  const threads = Array.from({ length: 200 }, (_, at) =>
    chooseThread([{ ...host, ips: [`192.0.2.${at}`] }], 4),
  );

  expect(new Set(threads).size).toBe(4);
});

test.each([
  [1, 0],
  [2, 0],
  [3, 1],
  [16, 1],
])("a machine of %i cores starts %i engine threads by default", (cores, threads) => {
  expect(chooseThreads(readEnvironment({}), cores)).toBe(threads);
});

test("the setting ENGINE_THREADS determines the number of threads", () => {
  expect(chooseThreads(readEnvironment({ ENGINE_THREADS: "3" }), 1)).toBe(3);
  expect(chooseThreads(readEnvironment({ ENGINE_THREADS: "0" }), 8)).toBe(0);
  expect(() => readEnvironment({ ENGINE_THREADS: "many" })).toThrow(
    "ENGINE_THREADS must be a number from 0 to 64",
  );
});
