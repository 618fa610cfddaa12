import type { LabOptions } from "@mailproof/local/lab/lab";
import { isOurs, type Job, OURS, type Outcome, PAUSING, type Said } from "./engine/job.ts";
import { COMPANIES, manyServers, mostlyDead, oneServer, ZONE } from "./engine/lists.ts";
import { type Cell, cellOf, situations } from "./engine/matrix.ts";
import { isInstalled, peerNames } from "./engine/peers.ts";
import { play } from "./engine/play.ts";
import { type Compared, format, held, type Measured, median, type Report } from "./report.ts";

// Our engine and the npm packages that do the same, one after the other: the same addresses, the same pretend
// internet, the same number under way. Every engine and every lab is a process of its own.

const REPLY_MS = 20;
const PEER_MS = 3_000;
const OURS_MS = 20_000;
/** A reply that was not there by then is lost. */
const GRACE_MS = 2_000;
/** Longer than the longest patience of any engine, ours among them. */
const MATRIX_MS = 45_000;
const CONNECTIONS_MAX = 10;

type Row = {
  readonly title: string;
  readonly lab: LabOptions;
  readonly addresses: readonly string[];
  readonly inFlight: number;
  readonly runs: number;
};

const LAB: LabOptions = { zone: ZONE, replyMs: REPLY_MS, companies: 0 };

const rowOne: Row = {
  title: `one mail server, ${CONNECTIONS_MAX} connections at most, ${REPLY_MS} ms per reply, all valid`,
  lab: LAB,
  addresses: oneServer(2_000),
  inFlight: CONNECTIONS_MAX,
  runs: 3,
};
const rowTwo: Row = {
  title: `a mail server per domain, 500 sessions in flight, ${REPLY_MS} ms per reply, all valid`,
  lab: { ...LAB, companies: COMPANIES },
  addresses: manyServers(9_000),
  inFlight: 500,
  // A run takes a second or two, and one busy moment of the machine is not to be the median.
  runs: 5,
};

const DEAD_PERCENTS = [80, 90, 95] as const;
const BUDGETED_PERCENT = 90;
const deadTitle = (deadPercent: number): string =>
  `the same mail server, ${deadPercent} % of the people do not exist`;
const rowsDead: readonly Row[] = DEAD_PERCENTS.map((deadPercent) => ({
  ...rowOne,
  title: deadTitle(deadPercent),
  addresses: mostlyDead(2_000, deadPercent),
  runs: 1,
}));
/** So few that the pauses, which are most of it, take a quarter of a minute. */
const rowPausing: Row = {
  ...rowOne,
  title: deadTitle(BUDGETED_PERCENT),
  addresses: mostlyDead(270, BUDGETED_PERCENT),
  runs: 1,
};

type Figures = {
  readonly engine: string;
  readonly perSecond: number;
  readonly sessionsPer1000: number;
  readonly peak: number;
  readonly cpuMs: number;
  readonly validPercent: number;
};

const figuresOf = (engine: string, { runs, stats }: Outcome): Figures => {
  const sum = (pick: (run: Outcome["runs"][number]) => number) =>
    runs.reduce((total, run) => total + pick(run), 0);
  const answered = sum(({ addresses }) => addresses);
  const valid = sum(({ said }) => Object.values(said).filter((word) => word === "valid").length);
  return {
    engine,
    perSecond: median(runs.map(({ addresses, seconds }) => addresses / seconds)),
    sessionsPer1000: (stats.sessions * 1000) / answered,
    peak: Math.max(...Object.values(stats.peakSessionsPerHost)),
    cpuMs: median(runs.map(({ addresses, cpuMs }) => cpuMs / addresses)),
    validPercent: (valid * 100) / answered,
  };
};

const race = async (row: Row, engines: readonly string[]): Promise<readonly Figures[]> => {
  const all: Figures[] = [];
  for (const engine of engines) {
    const { addresses, inFlight, runs } = row;
    const limitMs = isOurs(engine) ? OURS_MS : PEER_MS;
    const job = { engine, addresses, inFlight, limitMs, graceMs: GRACE_MS, runs };
    all.push(figuresOf(engine, await play(row.lab, job)));
  }
  return all;
};

/** Undefined where none is installed. */
const bestPeer = (figures: readonly Figures[]): Figures | undefined =>
  figures.filter(({ engine }) => engine !== OURS).toSorted((a, b) => b.perSecond - a.perSecond)[0];

const ratioTo = (best: Figures | undefined, { perSecond }: Figures): string =>
  best ? `${format(perSecond / best.perSecond)} ×` : "–";

const besideOf = (figures: readonly Figures[]) => {
  const best = bestPeer(figures);
  return best && { who: best.engine, value: best.perSecond };
};

const tableOf = ({ title }: Row, figures: readonly Figures[]): Compared => ({
  title,
  head: [
    "engine",
    "addresses/s",
    "to the best peer",
    "sessions per 1,000",
    "peak connections per MX",
    "CPU ms per address",
    "said valid",
  ],
  rows: figures.map((one) => [
    one.engine,
    format(one.perSecond),
    ratioTo(bestPeer(figures), one),
    format(one.sessionsPer1000),
    format(one.peak),
    one.cpuMs.toFixed(3),
    `${format(one.validPercent)} %`,
  ]),
});

type Dead = { readonly budgeted: Figures; readonly pausing: Figures; readonly table: Compared };

/** What recipients that do not exist cost, beside a list of which all do, and beside the rule that was. */
const raceDead = async (allValid: Figures | undefined): Promise<Dead> => {
  const found: (readonly [string, Figures])[] = [];
  for (const row of rowsDead) {
    const [figures] = await race(row, [OURS]);
    if (figures) found.push([row.title, figures]);
  }
  const [pausing] = await race(rowPausing, [PAUSING]);
  const budgeted = found.find(([title]) => title === deadTitle(BUDGETED_PERCENT))?.[1];
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
      format(one.perSecond),
      `${format(one.perSecond / allValid.perSecond)} ×`,
      format(one.sessionsPer1000),
      format(one.peak),
    ]),
  };
  return { budgeted, pausing, table };
};

type Judged = {
  readonly engine: string;
  readonly cells: readonly Cell[];
  readonly crashes: number;
};

const judgeAll = (engines: readonly string[]): Promise<readonly Judged[]> => {
  const addresses = situations.map(({ address }) => address);
  const job: Omit<Job, "engine" | "place"> = {
    addresses,
    inFlight: addresses.length,
    limitMs: MATRIX_MS,
    graceMs: 0,
    runs: 1,
  };
  // At the same time: nothing here is about speed, and most of it is waiting for hosts that never answer.
  return Promise.all(
    engines.map(async (engine) => {
      const { runs } = await play({ zone: ZONE, companies: 0 }, { engine, ...job });
      const said: Readonly<Record<number, Said>> = runs[0]?.said ?? {};
      const cells = situations.map((situation, at) => cellOf(situation, said[at]));
      return { engine, cells, crashes: runs[0]?.crashes ?? 0 };
    }),
  );
};

const CELLS: readonly Cell[] = ["ok", "unknown", "false invalid", "false valid"];
const countOf = ({ cells }: Judged, wanted: Cell): number =>
  cells.filter((cell) => cell === wanted).length;

const matrixOf = (judged: readonly Judged[]): readonly Compared[] => [
  {
    title: "verdicts, situation by situation",
    head: ["situation", "true is", ...judged.map(({ engine }) => engine)],
    rows: situations.map(({ shown, status }, at) => [
      shown,
      status,
      ...judged.map(({ cells }) => cells[at] ?? ""),
    ]),
  },
  {
    title: `verdicts in all ${situations.length} situations`,
    head: ["engine", ...CELLS, "errors nobody caught"],
    rows: judged.map((one) => [
      one.engine,
      ...CELLS.map((cell) => String(countOf(one, cell))),
      String(one.crashes),
    ]),
  },
];

const budgets = (
  one: readonly Figures[],
  two: readonly Figures[],
  dead: Dead,
  [ours]: readonly Judged[],
): readonly Measured[] => {
  const [ourOne, ourTwo] = [one[0], two[0]];
  if (!ourOne || !ourTwo || !ours) throw new Error("Our own engine was not measured.");
  return [
    held("oneServerRate", ourOne.perSecond, besideOf(one)),
    held("oneServerSessions", ourOne.sessionsPer1000),
    held("deadRate", dead.budgeted.perSecond / ourOne.perSecond, {
      who: "with a pause of 5 s after refusals",
      value: dead.pausing.perSecond / ourOne.perSecond,
    }),
    held("deadSessions", dead.budgeted.sessionsPer1000),
    held("manyServersRate", ourTwo.perSecond, besideOf(two)),
    held("manyServersCpu", ourTwo.cpuMs),
    held("enginePeak", Math.max(ourOne.peak, ourTwo.peak, dead.budgeted.peak)),
    { what: "situations judged right", value: countOf(ours, "ok"), unit: "" },
    held("engineWrong", situations.length - countOf(ours, "ok")),
    held("falseInvalid", countOf(ours, "false invalid")),
    held("falseValid", countOf(ours, "false valid")),
  ];
};

export const run = async (): Promise<Report> => {
  const peers = peerNames.filter(isInstalled);
  if (peers.length < peerNames.length)
    process.stdout.write(
      `Only ${[OURS, ...peers].join(", ")} measured. For the peers: npm install --prefix bench\n`,
    );
  const engines = [OURS, ...peers];
  const one = await race(rowOne, engines);
  const dead = await raceDead(one[0]);
  const two = await race(rowTwo, engines);
  const judged = await judgeAll(engines);
  const tables = [tableOf(rowOne, one), dead.table, tableOf(rowTwo, two), ...matrixOf(judged)];
  return { rows: budgets(one, two, dead, judged), tables };
};
