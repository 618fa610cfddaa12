import { setTimeout } from "node:timers/promises";
import type { Given, Report } from "./attackers.ts";
import { ATTACKS } from "./attacks/all.ts";
import { computeMedian, computePercentile, GROWTH_MAX, growth } from "./figures.ts";
import { type Phase, phasesIn } from "./schedule.ts";
import { measureUsage, type RetainedMemory, startBeside } from "./service.ts";
import { printLine, reportWork, type Soak, startSoak, type TimedResult } from "./setup.ts";
import { companyAt } from "./truth.ts";

// Goal: whatever attackers and other accounts do, ordinary customers get true responses, hardly later than otherwise; no
// credit is lost; and when it is over the service is as small as before.
// Method: calm and attack in turns, so that both are of one process on one machine. The customers do the same throughout.
// Attackers and the network are their own processes, as they are in the world, but of the same cores: their processor
// time is reported, since it makes answers later, too.

const MINUTE_MS = 60_000;
const CUSTOMERS = 24;
const PAUSE_MS = 600;
/** The beginning of a calm belongs to neither: caches fill, and what the attack left is done. */
const SETTLING_SHARE = 0.3;

const SLOWER_MAX = 2;
/** Fewer answers have no p99 to speak of. */
const ANSWERS_MIN = 200;
/** Of answers that name no verdict where there is one, beyond those of the calm. */
const UNDECIDED_MAX = 0.01;
/** These are over when the client goes away, or are refused at once. */
const UNTIMED = new Set(["leave", "nonsense"]);

const settled = ({ kind, fromMs, toMs }: Phase): Phase =>
  kind === "calm"
    ? { kind, fromMs: fromMs + (toMs - fromMs) * SETTLING_SHARE, toMs }
    : { kind, fromMs, toMs };

/** By the time at which a request began: what an attack made late belongs to it. */
const within = (
  results: readonly TimedResult[],
  phases: readonly Phase[],
): readonly TimedResult[] =>
  results.filter(({ atMs, spentMs }) =>
    phases.some(({ fromMs, toMs }) => atMs - spentMs >= fromMs && atMs - spentMs < toMs),
  );

export const soakUnderAttack = async (minutes: number, seed: number): Promise<void> => {
  const others = Object.fromEntries(
    ATTACKS.flatMap(({ name, plan }) => (plan ? [[name, plan]] : [])),
  );
  const soak = await startSoak({ seed, customers: CUSTOMERS, pauseMs: PAUSE_MS, others });
  const { accounts, service, startMs } = soak;
  const given: Given = {
    baseUrl: service.baseUrl,
    mailPort: service.mailPort,
    company: companyAt("mx1.otherhost"),
    keys: Object.fromEntries(Object.keys(others).map((name) => [name, accounts[name]!])),
  };
  const attackers = await startBeside<object>("attackers.ts", JSON.stringify(given));
  const phases = phasesIn(minutes);
  const used = { attackers: 0, network: 0, service: 0, seconds: 0 };
  let report: Report = {};

  const cpu = () => ({
    attackers: measureUsage(attackers.pid).cpuSeconds,
    network: measureUsage(soak.network.pid).cpuSeconds,
    service: measureUsage(service.pid()).cpuSeconds,
    seconds: performance.now() / 1_000,
  });
  const retained: RetainedMemory[] = [];
  const direct = async (): Promise<void> => {
    for (const { kind, fromMs, toMs } of phases) {
      await setTimeout(Math.max(0, startMs + fromMs - performance.now()));
      if (kind === "calm") {
        // After a pause, and before answers count: a collection holds up all that are under way.
        await setTimeout((toMs - fromMs) * SETTLING_SHARE * 0.9);
        retained.push(await service.measureRetained());
        continue;
      }
      const before = cpu();
      printLine(`  attack: ${ATTACKS.length} kinds, for ${Math.round((toMs - fromMs) / 1_000)} s`);
      attackers.send({ forMs: Math.round(toMs - fromMs) });
      report = await attackers.hear<Report>();
      const after = cpu();
      for (const who of Object.keys(used) as (keyof typeof used)[])
        used[who] += after[who] - before[who];
    }
  };
  await Promise.all([direct(), soak.runUntil(startMs + minutes * MINUTE_MS)]);
  attackers.end();
  const ended = await soak.settle();

  printLine("\nWhat attackers did, and the results");
  for (const [name, counts] of Object.entries(report))
    printLine(
      `  ${name.padEnd(32)} ${Object.entries(counts)
        .map(([what, count]) => `${what}: ${count}`)
        .join(", ")}`,
    );
  const share = (who: keyof typeof used) => (used[who] / used.seconds).toFixed(2);
  printLine(
    `\nProcessors in use during attacks: the service ${share("service")}, attackers ${share("attackers")}, the network ${share("network")}`,
  );
  const machine = (kind: Phase["kind"]): number =>
    computeMedian(
      soak.samples
        .filter(({ atMs }) =>
          ofKind(phases, kind).some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs),
        )
        .map(({ machineMs }) => machineMs),
    );
  const [calmMs, attackMs] = [machine("calm"), machine("attack")];
  printLine(
    `The same piece of work took the machine ${calmMs.toFixed(1)} ms in the calm and ${attackMs.toFixed(1)} ms under attack, whatever kept it busy (× ${(attackMs / calmMs).toFixed(2)}; nothing is taken out for it)`,
  );
  const isFast = reportTimes(soak, phases);
  const isTrue = reportTruth(soak, phases);
  const isSmall = reportMemory(soak, retained);
  reportWork(soak, ended);

  soak.conclude([
    ended.audit.ok === true ? "" : "the audit found a broken invariant",
    ended.money.isRight ? "" : "customers' responses differ from the ledger",
    isTrue ? "" : "answers were wrong, missing or left open",
    isFast ? "" : `p99 beyond × ${SLOWER_MAX} of the calm`,
    isSmall ? "" : `memory beyond × ${GROWTH_MAX} since the first attack`,
  ]);
};

const ofKind = (phases: readonly Phase[], kind: Phase["kind"]): readonly Phase[] =>
  phases.filter((phase) => phase.kind === kind).map(settled);

const reportTimes = ({ results }: Soak, phases: readonly Phase[]): boolean => {
  const calms = ofKind(phases, "calm");
  const parts = [
    within(results, calms),
    within(results, ofKind(phases, "attack")),
    within(results, calms.slice(0, 1)),
  ];
  printLine(
    `\nTimes of answers in ms, calm → under attack (p99 at most × ${SLOWER_MAX}, where there are ${ANSWERS_MIN} answers of each)`,
  );
  printLine(
    `  ${"".padEnd(20)}     answers        median                p99            first calm's p99`,
  );
  let isFast = true;
  for (const name of new Set(results.map((done) => done.name))) {
    if (UNTIMED.has(name)) continue;
    const [calm = [], attack = [], first = []] = parts.map((part) =>
      part.filter((done) => done.name === name).map(({ tookMs }) => tookMs),
    );
    const ratio = computePercentile(attack, 0.99) / computePercentile(calm, 0.99);
    const isJudged = Math.min(calm.length, attack.length) >= ANSWERS_MIN;
    const isSlow = isJudged && !(ratio <= SLOWER_MAX);
    if (isSlow) isFast = false;
    const pair = (of: (values: readonly number[]) => number, digits = 0) =>
      `${of(calm).toFixed(digits).padStart(6)} → ${of(attack).toFixed(digits).padStart(6)}`;
    printLine(
      `  ${name.padEnd(20)} ${pair((all) => all.length)}   ${pair(computeMedian, 1)}   ${pair((all) => computePercentile(all, 0.99), 1)}  × ${ratio.toFixed(2)}  ${computePercentile(first, 0.99).toFixed(1).padStart(7)}${isSlow ? "   late" : isJudged ? "" : "   too few"}`,
    );
  }
  return isFast;
};

const reportTruth = ({ results }: Soak, phases: readonly Phase[]): boolean => {
  const undecided = (kind: Phase["kind"]) => {
    const all = within(results, ofKind(phases, kind));
    const asked = all.reduce((sum, one) => sum + one.asked, 0);
    return { asked, share: all.reduce((sum, one) => sum + one.undecided, 0) / asked };
  };
  const [calm, attack] = [undecided("calm"), undecided("attack")];
  const wrong = results.filter((done) => done.wrong !== null);
  const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
  printLine(
    `\nAnswers whose truth is known: ${calm.asked} → ${attack.asked}; left open ${percent(calm.share)} → ${percent(attack.share)}; not so ${wrong.filter(({ isLie }) => isLie).length}; failed ${wrong.filter(({ isLie }) => !isLie).length}`,
  );
  return wrong.length === 0 && attack.share <= calm.share + UNDECIDED_MAX;
};

/**
 * What is kept after a collection in each calm. A process that is a minute old has grown for no attack yet, and keeps what
 * its first peak took: so it is held against the calm after the first attack, and what every attack adds shows in the last.
 */
const reportMemory = ({ samples }: Soak, retained: readonly RetainedMemory[]): boolean => {
  const peak = Math.max(...samples.map(({ megabytes }) => megabytes));
  printLine(
    `\nMemory of the server after a collection, in each calm, in MB (at most × ${GROWTH_MAX} since the first attack); the most at any time ${peak.toFixed(0)}`,
  );
  const grown = (["resident", "heap", "external"] as const).map((part) => {
    const all = retained.map((one) => one[part]);
    const [, before = Number.NaN, ...later] = all;
    const { ratio, grows } = growth({ before, after: later.at(-1) ?? Number.NaN, least: 30 });
    const isJudged = later.length > 0;
    const judged = isJudged ? `× ${ratio.toFixed(2)}` : "one attack tells nothing of growth";
    printLine(`  ${part.padEnd(10)} ${all.map((one) => one.toFixed(0)).join(" → ")}  ${judged}`);
    return isJudged && grows;
  });
  return !grown.some(Boolean);
};
