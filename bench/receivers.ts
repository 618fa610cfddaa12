import { readFileSync } from "node:fs";
import type { LabOptions } from "@mailproof/lab/lab";
import type { Scenario } from "@mailproof/lab/receivers/receiver";
import { RECEIVERS } from "@mailproof/lab/receivers/receivers";
import { type EngineOutcome, OURS } from "./engine/job.ts";
import { type Cell, type Situation, toCell } from "./engine/matrix.ts";
import { findObstacle, receiverPeerNames, requiresPort53 } from "./engine/peers.ts";
import { runEngine } from "./engine/run-engine.ts";
import {
  createRow,
  formatNumber,
  type Report,
  type ReportRow,
  type ReportTable,
} from "./report.ts";

// Our engine and its peers before the receivers that the lab plays (docs/receivers.md): a list for a client that no
// receiver has met, one of names that do not exist, so many that receivers begin to block, and one for each way in which
// receivers block or throttle a client that they have listed. Every engine has a lab of its own for each.

const IN_FLIGHT = 200;
/** For one list. Our engine backs off for 30 seconds and more; the peers never do. */
const LIMIT_MS = 240_000;
/** A list of so many names that do not exist looks like harvesting to a receiver. */
const HARVEST = 50;

type Case = {
  readonly scenario: Scenario;
  readonly address: string;
  readonly expected: readonly Situation[];
};

const isHarvest = ({ results }: Scenario): boolean =>
  results.length > HARVEST && results.every(([, first]) => first?.startsWith("invalid"));

/** One list; an address that stands in several scenarios belongs to the first. */
const listCases = (belongs: (scenario: Scenario) => boolean): readonly Case[] => {
  const scenarios = RECEIVERS.flatMap((receiver) => receiver.scenarios).filter(belongs);
  const cases = new Map<string, Case>();
  for (const scenario of scenarios)
    for (const [address, ...verdicts] of scenario.results) {
      const expected = verdicts.map((one) => toSituation(address, one));
      if (!cases.has(address)) cases.set(address, { scenario, address, expected });
    }
  return takeTurns([...Map.groupBy(cases.values(), ({ scenario }) => scenario).values()]);
};

/** The scenarios side by side: receivers that throttle are waited for at the same time. */
const takeTurns = (groups: readonly (readonly Case[])[]): readonly Case[] => {
  const most = Math.max(0, ...groups.map((group) => group.length));
  return Array.from({ length: most }, (_, at) => groups.flatMap((group) => group[at] ?? [])).flat();
};

const toSituation = (address: string, verdict: string): Situation => {
  const [status = "", reason = ""] = verdict.split(" ");
  return { address, label: address, status: status as Situation["status"], reason };
};

/** A receiver has a client on its list for one reason at a time: one list for the first of each, and so on. */
function listBlocked() {
  const rows = RECEIVERS.map(({ id, scenarios }) => ({
    id,
    scenarios: scenarios.filter(({ isBlocked }) => isBlocked),
  }));
  const most = Math.max(...rows.map(({ scenarios }) => scenarios.length));
  return Array.from({ length: most }, (_, at) => {
    const nth = rows.flatMap(({ id, scenarios }) => {
      const scenario = scenarios[at];
      return scenario ? [{ id, scenario }] : [];
    });
    const blockedBy = nth.map(({ id, scenario: { isBlocked } }) =>
      isBlocked === true ? id : `${id}:${isBlocked}`,
    );
    return {
      cases: listCases((one) => nth.some(({ scenario }) => scenario === one)),
      lab: { blockedBy },
    };
  });
}

const LISTS = [
  { cases: listCases((one) => !one.isBlocked && !isHarvest(one)), lab: {} },
  { cases: listCases(isHarvest), lab: {} },
  ...listBlocked(),
];

const LAB: LabOptions = { companies: 0, receivers: true };

const runList = (engine: string, cases: readonly Case[], lab: Partial<LabOptions>) =>
  runEngine(
    { ...LAB, ...lab, ...(requiresPort53(engine) && { dnsPort: 53 }) },
    {
      engine,
      addresses: cases.map(({ address }) => address),
      inFlight: IN_FLIGHT,
      limitMs: LIMIT_MS,
      graceMs: 0,
      runs: 1,
      asTheyArrive: true,
    },
  );

type JudgedCell = { readonly scenario: Scenario; readonly cell: Cell };

type Judged = {
  readonly engine: string;
  readonly cells: readonly JudgedCell[];
  readonly sessionsIntoBlock: number;
  readonly overLimit: number;
  readonly commands: number;
};

const judgeEngine = async (engine: string): Promise<Judged> => {
  const judged: Judged[] = [];
  const runOne = async ({ cases, lab }: (typeof LISTS)[number]): Promise<void> =>
    void judged.push(toJudged(engine, cases, await runList(engine, cases, lab)));
  // Only one lab at a time can have port 53. The others wait for backoffs at the same time.
  if (requiresPort53(engine)) for (const list of LISTS) await runOne(list);
  else await Promise.all(LISTS.map(runOne));
  const sum = (pick: (one: Judged) => number) =>
    judged.reduce((total, one) => total + pick(one), 0);
  return {
    engine,
    cells: judged.flatMap(({ cells }) => cells),
    sessionsIntoBlock: sum((one) => one.sessionsIntoBlock),
    overLimit: sum((one) => one.overLimit),
    commands: sum((one) => one.commands),
  };
};

const toJudged = (
  engine: string,
  cases: readonly Case[],
  { runs, stats }: EngineOutcome,
): Judged => {
  const counts = Object.values(stats.receivers);
  return {
    engine,
    cells: cases.map(({ scenario, expected }, index) => {
      const cells = expected.map((one) => toCell(one, runs[0]?.verdicts[index]));
      return { scenario, cell: cells.find((cell) => cell === "ok") ?? cells[0] ?? "unknown" };
    }),
    sessionsIntoBlock: counts.reduce((total, one) => total + one.sessionsIntoBlock, 0),
    overLimit: counts.reduce((total, one) => total + one.overLimit, 0),
    commands: Object.values(stats.commands).reduce((total, one) => total + one, 0),
  };
};

const countCells = ({ cells }: Judged, wanted: Cell): number =>
  cells.filter(({ cell }) => cell === wanted).length;

/** Of each scenario the share of right verdicts: the longest lists are of blocks, where no verdict is the right one. */
const listShares = ({ cells }: Judged): readonly number[] =>
  [...Map.groupBy(cells, ({ scenario }) => scenario).values()].map(
    (all) => all.filter(({ cell }) => cell === "ok").length / all.length,
  );

const computeRightPercent = (one: Judged): number => {
  const shares = listShares(one);
  return (shares.reduce((total, share) => total + share, 0) * 100) / shares.length;
};

const buildTable = (judged: readonly Judged[]): ReportTable => ({
  title: `${RECEIVERS.length} receivers, ${judged[0]?.cells.length ?? 0} addresses`,
  head: [
    "engine",
    "version",
    "right, each scenario weighing the same",
    "scenarios all right",
    "unknown",
    "false invalid",
    "false valid",
    "sessions into blocks",
    "replies over a limit",
    "commands per address",
  ],
  rows: judged.map((one) => [
    one.engine,
    findVersion(one.engine),
    `${formatNumber(computeRightPercent(one))} %`,
    `${listShares(one).filter((share) => share === 1).length} of ${listShares(one).length}`,
    String(countCells(one, "unknown")),
    String(countCells(one, "false invalid")),
    String(countCells(one, "false valid")),
    String(one.sessionsIntoBlock),
    String(one.overLimit),
    formatNumber(one.commands / one.cells.length),
  ]),
});

const readVersion = (file: string): string | undefined => {
  try {
    const text = readFileSync(new URL(file, import.meta.url), "utf8");
    const { version } = JSON.parse(text) as { version?: string };
    return version;
  } catch {
    return undefined;
  }
};

const findVersion = (engine: string): string => {
  if (engine === OURS) return readVersion("../package.json") ?? "";
  const own = readVersion(`node_modules/${engine}/package.json`);
  return own ?? readReacherVersion() ?? "";
};

/** Of the one crate, as bench/reacher/Cargo.toml pins it. */
const readReacherVersion = (): string | undefined =>
  /check-if-email-exists = "=([\d.]+)"/.exec(
    readFileSync(new URL("reacher/Cargo.toml", import.meta.url), "utf8"),
  )?.[1];

const buildRows = (ours: Judged, peers: readonly Judged[]): readonly ReportRow[] => {
  const [best] = peers.toSorted((a, b) => computeRightPercent(b) - computeRightPercent(a));
  const beside = best && { who: best.engine, value: computeRightPercent(best) };
  return [
    createRow("receiversRight", computeRightPercent(ours), beside),
    createRow("receiversFalseInvalid", countCells(ours, "false invalid")),
    createRow("receiversFalseValid", countCells(ours, "false valid")),
    createRow("receiversIntoBlock", ours.sessionsIntoBlock),
  ];
};

export const run = async (): Promise<Report> => {
  const obstacles = receiverPeerNames.map((name) => [name, findObstacle(name)] as const);
  const missing = obstacles.filter(([, obstacle]) => obstacle !== null);
  for (const [name, obstacle] of missing) process.stdout.write(`${name}: ${obstacle}\n`);
  const peers = obstacles.filter(([, obstacle]) => obstacle === null).map(([name]) => name);
  // At the same time: nothing here is about speed, and most of it is waiting.
  // Ours has the machine for itself, since a name server that has no time looks like one that is silent.
  const judged = [await judgeEngine(OURS), ...(await Promise.all(peers.map(judgeEngine)))];
  const [ours, ...others] = judged;
  if (!ours) throw new Error("Our own engine was not measured.");
  const tables = [
    buildTable(judged),
    {
      title: "not measured",
      head: ["engine", "why"],
      rows: missing.map(([name, obstacle]) => [name, obstacle ?? ""]),
    },
  ];
  return { rows: buildRows(ours, others), tables };
};
