import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  bestBlock,
  computeMedian,
  computePercentile,
  GROWTH_MAX,
  growth,
  isComparable,
  type Timed,
} from "./figures.ts";
import type { Service } from "./service.ts";
import { printLine, reportWork, startSoak } from "./setup.ts";

// Goal: after hours the service is what it was after minutes: as fast, as small, and every credit is accounted for.
// Method: customers of every kind use the real server all the time. In the first third it is stopped each minute,
// kill -9 and SIGTERM in turns; after that one process has to last. Hosts of the lab hang up, greylist and fall silent,
// every third webhook is refused, and some customers leave before they are answered. At the end the ledger is added up,
// and so are the prices that customers' responses had.

const MINUTE_MS = 60_000;
const CUSTOMERS = 12;
const PAUSE_MS = 150;
const CRASHING_SHARE = 1 / 3;

/** Stopped each minute, one way and the other. */
const restartRepeatedly = async (service: Service, untilMs: number): Promise<number> => {
  let count = 0;
  while (performance.now() + MINUTE_MS < untilMs) {
    await setTimeout(MINUTE_MS);
    await service.stop(count++ % 2 === 0 ? "SIGKILL" : "SIGTERM");
    await service.start();
  }
  return count;
};

const soakForLong = async (minutes: number, seed: number): Promise<void> => {
  const soak = await startSoak({ seed, customers: CUSTOMERS, pauseMs: PAUSE_MS });
  const { service, startMs, results, samples } = soak;
  const lengthMs = minutes * MINUTE_MS;
  const calmFromMs = lengthMs * CRASHING_SHARE;
  const [stops] = await Promise.all([
    restartRepeatedly(service, startMs + calmFromMs),
    soak.runUntil(startMs + lengthMs),
  ]);
  const ended = await soak.settle();

  // The calm, without its first fifth: caches fill then.
  const calmMs = lengthMs - calmFromMs;
  const span = (from: number, to: number) =>
    [calmFromMs + calmMs * from, calmFromMs + calmMs * to] as const;
  const parts = [span(0.2, 0.5), span(0.7, 1)] as const;
  const inParts = (all: readonly Timed[], figure: (values: readonly number[]) => number) => {
    const [before, after] = parts.map((part) => bestBlock(all, part, figure));
    return { before: before ?? Number.NaN, after: after ?? Number.NaN };
  };

  const machine = inParts(
    samples.map(({ atMs, machineMs }) => ({ atMs, value: machineMs })),
    computeMedian,
  );
  const slower = machine.after / machine.before;
  const isFlat = (
    what: string,
    unit: string,
    found: { readonly before: number; readonly after: number; readonly slower?: number },
    least: number,
  ): boolean => {
    const { ratio, grows } = growth({ ...found, least });
    const { before, after } = found;
    const figures = `${before.toFixed(1).padStart(8)} → ${after.toFixed(1).padStart(8)} ${unit}`;
    printLine(
      `  ${what.padEnd(34)} ${figures.padEnd(24)} × ${ratio.toFixed(2)}${grows ? "   grows" : ""}`,
    );
    return !grows;
  };
  const took = (name: string, share: number) => {
    const all = results
      .filter((done) => done.name === name)
      .map(({ atMs, tookMs }) => ({ atMs, value: tookMs }));
    return { ...inParts(all, (values) => computePercentile(values, share)), slower };
  };
  /** Of a request, between two looks at the server. */
  const work: Timed[] = samples.slice(1).map((sample, n) => {
    const before = samples[n] ?? sample;
    const requests = results.filter(({ atMs }) => atMs > before.atMs && atMs <= sample.atMs).length;
    const seconds = sample.cpuSeconds - before.cpuSeconds;
    return { atMs: sample.atMs, value: (1_000 * seconds) / Math.max(1, requests) };
  });
  const memory = samples.map(({ atMs, megabytes }) => ({ atMs, value: megabytes }));

  printLine(
    `\nThe calm, the best blocks of its earlier part and of its later one (at most × ${GROWTH_MAX})`,
  );
  printLine(
    `  the machine itself became × ${slower.toFixed(2)} slower; times of answers allow for more than 1`,
  );
  const flat = [
    isFlat("memory of the server", "MB", inParts(memory, computeMedian), 50),
    isFlat("processor time of a request", "ms", inParts(work, computeMedian), 0.5),
    isFlat("verify from cache, median", "ms", took("verify from cache", 0.5), 1),
    isFlat("verify from cache, 95 of 100", "ms", took("verify from cache", 0.95), 5),
    isFlat("verify, median", "ms", took("verify", 0.5), 1),
    isFlat("look, median", "ms", took("look", 0.5), 1),
  ];
  printLine(`\nThe server was stopped ${stops} times.`);
  reportWork(soak, ended);

  // A failure in the calm is a fault of ours; while servers are being killed it is none. What is not so, is never.
  const wrong = results.filter((done) => done.wrong !== null);
  const inTheCalm = wrong.filter(({ atMs, isLie }) => isLie || atMs > calmFromMs + MINUTE_MS);
  soak.conclude([
    ended.audit.ok === true ? "" : "the audit found a broken invariant",
    ended.money.isRight ? "" : "customers' responses differ from the ledger",
    flat.every(Boolean) ? "" : "something grows",
    isComparable(slower)
      ? ""
      : `the machine itself became × ${slower.toFixed(2)} slower: run it again when it has nothing else to do`,
    inTheCalm.length === 0 ? "" : `${inTheCalm.length} requests failed in the calm`,
  ]);
};

// npx node test/soak/cli.ts --minutes N [--seed S]

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    seed: { type: "string", default: "1" },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes >= 1) || !Number.isSafeInteger(seed)) {
  process.stderr.write("--minutes must be a number from 1 up, and --seed a whole number.\n");
  process.exit(2);
}
await soakForLong(minutes, seed);
