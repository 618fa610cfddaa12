import { availableParallelism } from "node:os";
import type { LabOptions } from "@mailproof/lab/lab";
import {
  type BenchVerdict,
  type EngineJob,
  type EngineOutcome,
  isOurs,
  OURS,
  PAUSING,
  THREADED,
} from "./engine/job.ts";
import {
  COMPANIES,
  listManyServers,
  listMostlyDead,
  listOneServer,
  PIPELINING,
  ZONE,
} from "./engine/lists.ts";
import { type Cell, situations, toCell } from "./engine/matrix.ts";
import { isInstalled, peerNames } from "./engine/peers.ts";
import { runEngine } from "./engine/run-engine.ts";
import {
  computeMedian,
  createRow,
  formatNumber,
  type Report,
  type ReportRow,
  type ReportTable,
} from "./report.ts";

// Our engine and the npm packages that do the same, one after the other: the same addresses, the same
// lab, the same number under way. Every engine and every lab is its own process.

const REPLY_MS = 20;
const PEER_MS = 3_000;
const OURS_MS = 20_000;
/** A reply that was not there by then is lost. */
const GRACE_MS = 2_000;
/** Longer than the longest patience of any engine, ours among them. */
const MATRIX_MS = 120_000;
const CONNECTIONS_MAX = 10;

type EngineRow = {
  readonly title: string;
  readonly lab: LabOptions;
  readonly addresses: readonly string[];
  readonly inFlight: number;
  readonly runs: number;
};

const LAB: LabOptions = { zone: ZONE, replyMs: REPLY_MS, companies: 0 };

const rowOne: EngineRow = {
  title: `one mail server, ${CONNECTIONS_MAX} connections at most, ${REPLY_MS} ms per reply, no PIPELINING, all valid`,
  lab: LAB,
  addresses: listOneServer(2_000),
  inFlight: CONNECTIONS_MAX,
  runs: 3,
};
const rowPipelining: EngineRow = {
  ...rowOne,
  title: "the same with a mail server that announces PIPELINING",
  addresses: listOneServer(2_000, PIPELINING),
};
const rowTwo: EngineRow = {
  title: `a mail server per domain, 500 sessions in flight, ${REPLY_MS} ms per reply, all valid`,
  lab: { ...LAB, companies: COMPANIES },
  addresses: listManyServers(9_000),
  inFlight: 500,
  // A run takes a second or two, and one busy moment of the machine is not to be the median.
  runs: 5,
};

const DEAD_PERCENTS = [80, 90, 95] as const;
const BUDGETED_PERCENT = 90;
const formatDeadTitle = (deadPercent: number): string =>
  `the same mail server, ${deadPercent} % of the people do not exist`;
const rowsDead: readonly EngineRow[] = DEAD_PERCENTS.map((deadPercent) => ({
  ...rowOne,
  title: formatDeadTitle(deadPercent),
  addresses: listMostlyDead(2_000, deadPercent),
  runs: 1,
}));
/** So few that the pauses, which are most of it, take a quarter of a minute. */
const rowPausing: EngineRow = {
  ...rowOne,
  title: formatDeadTitle(BUDGETED_PERCENT),
  addresses: listMostlyDead(270, BUDGETED_PERCENT),
  runs: 1,
};

type EngineFigures = {
  readonly engine: string;
  readonly perSecond: number;
  readonly sessionsPer1000: number;
  readonly peak: number;
  readonly cpuMs: number;
  readonly validPercent: number;
};

const toFigures = (engine: string, { runs, stats }: EngineOutcome): EngineFigures => {
  const sum = (pick: (run: EngineOutcome["runs"][number]) => number) =>
    runs.reduce((total, run) => total + pick(run), 0);
  const answered = sum(({ addresses }) => addresses);
  const valid = sum(
    ({ verdicts }) => Object.values(verdicts).filter((word) => word === "valid").length,
  );
  return {
    engine,
    perSecond: computeMedian(runs.map(({ addresses, seconds }) => addresses / seconds)),
    sessionsPer1000: (stats.sessions * 1000) / answered,
    peak: Math.max(...Object.values(stats.peakSessionsPerHost)),
    cpuMs: computeMedian(runs.map(({ addresses, cpuMs }) => cpuMs / addresses)),
    validPercent: (valid * 100) / answered,
  };
};

const measureEngines = async (
  row: EngineRow,
  engines: readonly string[],
): Promise<readonly EngineFigures[]> => {
  const all: EngineFigures[] = [];
  for (const engine of engines) {
    const { addresses, inFlight, runs } = row;
    const limitMs = isOurs(engine) ? OURS_MS : PEER_MS;
    const job = { engine, addresses, inFlight, limitMs, graceMs: GRACE_MS, runs };
    all.push(toFigures(engine, await runEngine(row.lab, job)));
  }
  return all;
};

/** Undefined where none is installed. */
const findBestPeer = (figures: readonly EngineFigures[]): EngineFigures | undefined =>
  figures.filter(({ engine }) => engine !== OURS).toSorted((a, b) => b.perSecond - a.perSecond)[0];

const formatRatio = (best: EngineFigures | undefined, { perSecond }: EngineFigures): string =>
  best ? `${formatNumber(perSecond / best.perSecond)} ×` : "–";

const findBeside = (figures: readonly EngineFigures[]) => {
  const best = findBestPeer(figures);
  return best && { who: best.engine, value: best.perSecond };
};

const buildTable = ({ title }: EngineRow, figures: readonly EngineFigures[]): ReportTable => ({
  title,
  head: [
    "engine",
    "addresses/s",
    "to the best peer",
    "sessions per 1,000",
    "peak connections per MX",
    "CPU ms per address",
    "reported valid",
  ],
  rows: figures.map((one) => [
    one.engine,
    formatNumber(one.perSecond),
    formatRatio(findBestPeer(figures), one),
    formatNumber(one.sessionsPer1000),
    formatNumber(one.peak),
    one.cpuMs.toFixed(3),
    `${formatNumber(one.validPercent)} %`,
  ]),
});

/** What threads cost, and what they bring where this machine has the cores. */
const buildThreadTable = (
  { title }: EngineRow,
  figures: readonly EngineFigures[],
): ReportTable => ({
  title: `engine threads on ${availableParallelism()} cores: ${title}`,
  head: ["engine", "addresses/s", "to no thread", "CPU ms per address", "to no thread"],
  rows: figures.map((one) => {
    const [none = one] = figures;
    return [
      one.engine,
      formatNumber(one.perSecond),
      `${formatNumber(one.perSecond / none.perSecond)} ×`,
      one.cpuMs.toFixed(3),
      `${formatNumber(one.cpuMs / none.cpuMs)} ×`,
    ];
  }),
});

type DeadFigures = {
  readonly budgeted: EngineFigures;
  readonly pausing: EngineFigures;
  readonly table: ReportTable;
};

/** What recipients that do not exist cost, beside a list of which all do, and beside the rule that was. */
const measureDead = async (allValid: EngineFigures | undefined): Promise<DeadFigures> => {
  const found: (readonly [string, EngineFigures])[] = [];
  for (const row of rowsDead) {
    const [figures] = await measureEngines(row, [OURS]);
    if (figures) found.push([row.title, figures]);
  }
  const [pausing] = await measureEngines(rowPausing, [PAUSING]);
  const budgeted = found.find(([title]) => title === formatDeadTitle(BUDGETED_PERCENT))?.[1];
  if (!allValid || !budgeted || !pausing) throw new Error("Our own engine was not measured.");
  const all = [[rowOne.title, allValid] as const, ...found, [rowPausing.title, pausing] as const];
  const table = {
    title: "people who do not exist",
    head: [
      "list",
      "engine",
      "addresses/s",
      "to all valid",
      "sessions per 1,000",
      "peak connections",
    ],
    rows: all.map(([title, one]) => [
      title,
      one.engine,
      formatNumber(one.perSecond),
      `${formatNumber(one.perSecond / allValid.perSecond)} ×`,
      formatNumber(one.sessionsPer1000),
      formatNumber(one.peak),
    ]),
  };
  return { budgeted, pausing, table };
};

type JudgedEngine = {
  readonly engine: string;
  readonly cells: readonly Cell[];
  readonly crashes: number;
};

const judgeEngines = (engines: readonly string[]): Promise<readonly JudgedEngine[]> => {
  const addresses = situations.map(({ address }) => address);
  const job: Omit<EngineJob, "engine" | "labAddress"> = {
    addresses,
    inFlight: addresses.length,
    limitMs: MATRIX_MS,
    graceMs: 0,
    runs: 1,
    asTheyArrive: true,
  };
  // At the same time: nothing here is about speed, and most of it is waiting for hosts that never answer.
  return Promise.all(
    engines.map(async (engine) => {
      const { runs } = await runEngine({ zone: ZONE, companies: 0 }, { engine, ...job });
      const verdicts: Readonly<Record<number, BenchVerdict>> = runs[0]?.verdicts ?? {};
      const cells = situations.map((situation, at) => toCell(situation, verdicts[at]));
      return { engine, cells, crashes: runs[0]?.crashes ?? 0 };
    }),
  );
};

const CELLS: readonly Cell[] = ["ok", "unknown", "false invalid", "false valid"];
const countCells = ({ cells }: JudgedEngine, wanted: Cell): number =>
  cells.filter((cell) => cell === wanted).length;

const buildMatrix = (judged: readonly JudgedEngine[]): readonly ReportTable[] => [
  {
    title: "verdicts, situation by situation",
    head: ["situation", "true is", ...judged.map(({ engine }) => engine)],
    rows: situations.map(({ label: shown, status }, at) => [
      shown,
      status,
      ...judged.map(({ cells }) => cells[at] ?? ""),
    ]),
  },
  {
    title: `verdicts in all ${situations.length} situations`,
    head: ["engine", ...CELLS, "uncaught errors"],
    rows: judged.map((one) => [
      one.engine,
      ...CELLS.map((cell) => String(countCells(one, cell))),
      String(one.crashes),
    ]),
  },
];

const buildRows = (
  one: readonly EngineFigures[],
  two: readonly EngineFigures[],
  dead: DeadFigures,
  [ours]: readonly JudgedEngine[],
): readonly ReportRow[] => {
  const [ourOne, ourTwo] = [one[0], two[0]];
  if (!ourOne || !ourTwo || !ours) throw new Error("Our own engine was not measured.");
  return [
    createRow("oneServerRate", ourOne.perSecond, findBeside(one)),
    createRow("oneServerSessions", ourOne.sessionsPer1000),
    createRow("deadRate", dead.budgeted.perSecond / ourOne.perSecond, {
      who: "with a pause of 5 s after refusals",
      value: dead.pausing.perSecond / ourOne.perSecond,
    }),
    createRow("deadSessions", dead.budgeted.sessionsPer1000),
    createRow("manyServersRate", ourTwo.perSecond, findBeside(two)),
    createRow("manyServersCpu", ourTwo.cpuMs),
    createRow("enginePeak", Math.max(ourOne.peak, ourTwo.peak, dead.budgeted.peak)),
    { what: "situations judged right", value: countCells(ours, "ok"), unit: "" },
    createRow("engineWrong", situations.length - countCells(ours, "ok")),
    createRow("falseInvalid", countCells(ours, "false invalid")),
    createRow("falseValid", countCells(ours, "false valid")),
  ];
};

export const run = async (): Promise<Report> => {
  const peers = peerNames.filter(isInstalled);
  if (peers.length < peerNames.length)
    process.stdout.write(
      `Only ${[OURS, ...peers].join(", ")} measured. For the peers: npm install --prefix bench\n`,
    );
  const engines = [OURS, ...peers];
  const one = await measureEngines(rowOne, engines);
  const dead = await measureDead(one[0]);
  const pipelining = await measureEngines(rowPipelining, engines);
  const two = await measureEngines(rowTwo, engines);
  const threaded = await measureEngines(rowTwo, Object.keys(THREADED));
  const judged = await judgeEngines(engines);
  const tables = [
    buildTable(rowOne, one),
    buildTable(rowPipelining, pipelining),
    dead.table,
    buildTable(rowTwo, two),
    buildThreadTable(rowTwo, [...two.filter(({ engine }) => engine === OURS), ...threaded]),
    ...buildMatrix(judged),
  ];
  return { rows: buildRows(one, two, dead, judged), tables };
};
