import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createClient } from "@mailproof/client/index";
import { contentsOf, filesOf } from "./contents.ts";
import { customer, type Done, type Paid } from "./customers.ts";
import { machineMs, type Service, startReceiver, startService, usedBy } from "./service.ts";

// npm run soak -- --minutes N [--seed S]
// Goal: after hours the service is what it was after minutes: as fast, as small, and every credit is accounted for.
// Method: customers of every kind use the real server all the time. In the first third it is stopped each minute,
// kill -9 and SIGTERM in turns; after that one process has to last. Hosts of the lab hang up, put off and fall silent,
// every third webhook is refused, and some customers leave before they are answered. At the end the ledger is added up,
// and so is what customers were told that they paid.

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "30" }, seed: { type: "string", default: "1" } },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes >= 1) || !Number.isSafeInteger(seed)) {
  process.stderr.write("--minutes must be a number from 1 up, and --seed a whole number.\n");
  process.exit(2);
}

const MINUTE_MS = 60_000;
const CREDITS = 10_000_000;
const CUSTOMERS = 12;
const PAUSE_MS = 150;
const STORMY_SHARE = 1 / 3;
const SAMPLE_MS = 5_000;
const SAMPLES_TOLD = 12;
/** What the later part of the calm may be of the earlier, where chance alone makes a tenth or two. */
const GROWTH_MAX = 1.3;

type Sample = ReturnType<typeof usedBy> & { readonly atMs: number; readonly machineMs: number };
type Heard = Done & { readonly atMs: number };

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Stopped each minute, one way and the other. */
const restarts = async (service: Service, untilMs: number): Promise<number> => {
  let count = 0;
  while (performance.now() + MINUTE_MS < untilMs) {
    await setTimeout(MINUTE_MS);
    await service.stop(count++ % 2 === 0 ? "SIGKILL" : "SIGTERM");
    await service.start();
  }
  return count;
};

const watch = async (service: Service, startMs: number, isOver: () => boolean) => {
  const samples: Sample[] = [];
  while (!isOver()) {
    await setTimeout(SAMPLE_MS);
    const atMs = performance.now() - startMs;
    const used = usedBy(service.pid());
    samples.push({ atMs, machineMs: machineMs(), ...used });
    if (samples.length % SAMPLES_TOLD === 0)
      say(
        `  after ${Math.round(atMs / 1_000)} s: ${heard.length} wishes, ${used.megabytes.toFixed(0)} MB of memory, ${(filesOf(service.state).table / 2 ** 20).toFixed(0)} MB of table`,
      );
  }
  return samples;
};

const folder = mkdtempSync(join(tmpdir(), "mailproof-soak-"));
const service = await startService(folder);
const receiver = await startReceiver();
const wanted = ["--name", "Soak", "--plan", "scale", "--credits", String(CREDITS)];
const { live_key: key, account_id: account } = await service.command(
  "admin",
  "accounts",
  "create",
  ...wanted,
);
const clientOf = (name: string) =>
  createClient({ baseUrl: service.baseUrl, key: name, retries: 12 });
const owner = clientOf(key);
await owner.createWebhook({ url: receiver.url, events: ["job.completed"] });

const startMs = performance.now();
const endMs = startMs + minutes * MINUTE_MS;
const calmFromMs = minutes * MINUTE_MS * STORMY_SHARE;
const isOver = () => performance.now() >= endMs;
const heard: Heard[] = [];
const customers = await Promise.all(
  Array.from({ length: CUSTOMERS }, async (_, number) => {
    const made = await owner.createApiKey({ name: `customer ${number}`, mode: "live" });
    return (): Promise<void> =>
      customer(
        clientOf(made.key),
        { seed: seed * 1_000 + number, hook: receiver.url, pauseMs: PAUSE_MS },
        (done) => void heard.push({ ...done, atMs: performance.now() - startMs }),
        isOver,
      );
  }),
);
say(`${minutes} minutes, ${CUSTOMERS} customers, seed ${seed}; state in ${service.state}`);
const [samples, stops] = await Promise.all([
  watch(service, startMs, isOver),
  restarts(service, startMs + calmFromMs),
  ...customers.map((go) => go()),
]);

// What hosts put off goes on as jobs for half an hour, and is held; every batch and file was waited for.
const { credits } = await owner.getAccount();
await service.stop("SIGTERM");
receiver.close();
const audit = await service.command("admin", "audit");

// The calm, without its first fifth: caches fill then.
const calmMs = minutes * MINUTE_MS - calmFromMs;
const part = <T extends { readonly atMs: number }>(all: readonly T[], from: number, to: number) =>
  all.filter(({ atMs }) => atMs >= calmFromMs + calmMs * from && atMs < calmFromMs + calmMs * to);
const [earlier, later] = [
  [0.2, 0.5],
  [0.7, 1],
] as const;

const inPart = <T>(of: (from: number, to: number) => T) => [of(...earlier), of(...later)] as const;
const machine = inPart((from, to) => median(part(samples, from, to).map((one) => one.machineMs)));
const slower = machine[1] / machine[0];

/** `by`: what of the growth is not the service's. */
const isFlat = (what: string, unit: string, of: (from: number, to: number) => number, by = 1) => {
  const [before, after] = inPart(of);
  const ratio = after / before / by;
  const grows = ratio > GROWTH_MAX;
  const figures = `${before.toFixed(1).padStart(8)} → ${after.toFixed(1).padStart(8)} ${unit}`;
  say(`  ${what.padEnd(34)} ${figures.padEnd(24)} × ${ratio.toFixed(2)}${grows ? "   grows" : ""}`);
  return !grows;
};

const memoryIn = (from: number, to: number) =>
  median(part(samples, from, to).map(({ megabytes }) => megabytes));
const workIn = (from: number, to: number) => {
  const all = part(samples, from, to);
  const seconds = (all.at(-1)?.cpuSeconds ?? 0) - (all[0]?.cpuSeconds ?? 0);
  return (1_000 * seconds) / part(heard, from, to).length;
};
const tookIn = (name: string, share: number) => (from: number, to: number) =>
  percentile(
    part(heard, from, to)
      .filter((done) => done.name === name)
      .map(({ tookMs }) => tookMs),
    share,
  );

say(`\nThe calm, its earlier part and its later one (at most × ${GROWTH_MAX})`);
say(
  `  the machine itself became × ${slower.toFixed(2)} slower, which is taken out of the times of answers`,
);
const flat = [
  isFlat("memory of the server", "MB", memoryIn),
  isFlat("processor time of a wish", "ms", workIn),
  isFlat("verify from cache, median", "ms", tookIn("verify from cache", 0.5), slower),
  isFlat("verify from cache, 95 of 100", "ms", tookIn("verify from cache", 0.95), slower),
  isFlat("verify, median", "ms", tookIn("verify", 0.5), slower),
  isFlat("look, median", "ms", tookIn("look", 0.5), slower),
];

say(
  `\nWhat was done: ${heard.length} wishes, ${stops} stops, ${receiver.calls()} webhooks received`,
);
for (const [name, all] of Map.groupBy(heard, (done) => done.name))
  say(`  ${name.padEnd(20)} ${String(all.length).padStart(7)}`);

const wrong = heard.filter((done) => done.wrong !== null);
say(`\nWhat went otherwise than wished: ${wrong.length}`);
for (const [words, all] of Map.groupBy(wrong, (done) => `${done.name}: ${done.wrong ?? ""}`))
  say(`  ${String(all.length).padStart(5)} × ${words.slice(0, 160)}`);

say("\nWhat the files hold");
for (const line of contentsOf(service.state)) say(`  ${line}`);

const sum = (bound: keyof Paid) => heard.reduce((total, { paid }) => total + paid[bound], 0);
const spent = credits.spent + credits.held;
const isPaidRight = sum("least") <= spent && spent <= sum("most");
say(
  `\nThe money: customers were told ${sum("least")} to ${sum("most")}, the account spent ${credits.spent} and holds ${credits.held}; available ${credits.available}, of ${CREDITS}.`,
);
say(`Audit of ${account}: ${JSON.stringify(audit)}`);

// A failure in the calm is a fault of ours; while servers are being killed it is none.
const inTheCalm = wrong.filter(({ atMs }) => atMs > calmFromMs + MINUTE_MS);
const faults = [
  audit.ok === true ? "" : "the audit found a broken law",
  isPaidRight ? "" : "customers were told otherwise than the ledger says",
  flat.every(Boolean) ? "" : "something grows",
  inTheCalm.length === 0 ? "" : `${inTheCalm.length} wishes went wrong in the calm`,
].filter((fault) => fault !== "");
say(faults.length === 0 ? "\nIt lasts." : `\nFaults: ${faults.join("; ")}.`);
if (faults.length === 0) rmSync(folder, { recursive: true, force: true });
process.exitCode = faults.length === 0 ? 0 : 1;
