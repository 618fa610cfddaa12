import { PRICES } from "../infra/prices.ts";
import { type RowsAt, simulateCluster } from "../test/simulation/cluster.ts";
import { type CostContext, createCostContext } from "./cost/context.ts";
import { type CostFlow, FLOWS, warmUp } from "./cost/flows.ts";
import type { CostMeter, MeteredUnit } from "./cost/meter.ts";
import { createRow, type Report, type ReportRow, type ReportTable } from "./report.ts";

// What AWS would ask for each flow: every request at the ports is counted, with the capacity units of the items it
// touches, against the lab's mail servers. How long Lambdas run is reported by itself: of rows of files as the simulated cluster
// measures it, of everything else as assumed.

// How long the Lambdas of chunks run for the rows of files, from the simulated cluster: the real engine and the real worker in
// virtual time, with mail servers that take as long for a reply as is written here (docs/design/mail-slots.md).

type LambdaTime = { readonly rows: string; readonly secondsPerRow: number };

const ROWS_EACH = 200;

const CASES: readonly {
  readonly rows: string;
  readonly at: RowsAt;
  readonly processes: number;
  readonly replyMs: number;
}[] = [
  { rows: "at hosts of their own", at: "own hosts", processes: 20, replyMs: 100 },
  { rows: "at Gmail, 20 chunks at once", at: "gmail", processes: 20, replyMs: 100 },
  { rows: "at Gmail, 70 chunks at once, slow replies", at: "gmail", processes: 70, replyMs: 200 },
];

const measureLambdaTimes = async (): Promise<readonly LambdaTime[]> => {
  const times: LambdaTime[] = [];
  for (const { rows, at, processes, replyMs } of CASES) {
    const { processSeconds } = await simulateCluster(processes, replyMs, ROWS_EACH, { rowsAt: at });
    times.push({ rows, secondsPerRow: processSeconds / 1_000 });
  }
  return times;
};

const GIGABYTES = 0.5;

const toDollars = (meter: CostMeter): number =>
  (Object.keys(meter) as MeteredUnit[]).reduce((sum, one) => sum + meter[one] * PRICES[one], 0);

const THOUSAND = 1_000;

type FlowCost = {
  readonly flow: CostFlow;
  readonly meter: CostMeter;
  readonly counted: number;
  readonly ran: number;
};

const measureFlow = async (context: CostContext, flow: CostFlow): Promise<FlowCost> => {
  const before = { ...context.meter };
  await flow.run(context);
  const meter = Object.fromEntries(
    (Object.keys(before) as MeteredUnit[]).map((one) => [one, context.meter[one] - before[one]]),
  ) as CostMeter;
  const perThousand = THOUSAND / flow.per;
  const ran =
    flow.calls * (PRICES.call + PRICES.run) + flow.seconds * GIGABYTES * PRICES.gigabyteSecond;
  return { flow, meter, counted: toDollars(meter) * perThousand, ran: ran * perThousand };
};

/** The rows of a file, with Lambda time as measured for such rows. */
const addLambdaTime = (
  { flow, meter, counted, ran }: FlowCost,
  { rows, secondsPerRow }: Awaited<ReturnType<typeof measureLambdaTimes>>[number],
): FlowCost => ({
  flow: { ...flow, name: `an address in a file, ${rows}`, seconds: secondsPerRow * flow.per },
  meter,
  counted,
  ran: ran + secondsPerRow * GIGABYTES * PRICES.gigabyteSecond * THOUSAND,
});

const formatCell = (value: number): string => value.toFixed(value < 10 ? 2 : 0);
const formatMoney = (value: number): string => `$${value.toFixed(5)}`;

const buildTable = (lines: readonly FlowCost[]): ReportTable => ({
  title: "Dollars for 1,000 of each: counted at the ports, and with calls and Lambda time",
  head: ["flow", "WRU", "RRU", "SQS", "S3", "counted", "seconds", "with Lambda"],
  rows: lines.map(({ flow, meter, counted, ran }) => [
    flow.name,
    formatCell(meter.writeUnit / flow.per),
    formatCell(meter.readUnit / flow.per),
    formatCell(meter.queueRequest / flow.per),
    formatCell((meter.put + meter.get) / flow.per),
    formatMoney(counted),
    formatCell(flow.seconds / flow.per),
    formatMoney(counted + ran),
  ]),
});

export const run = async (): Promise<Report> => {
  const context = await createCostContext();
  try {
    await warmUp(context);
    const lines: FlowCost[] = [];
    for (const flow of FLOWS) lines.push(await measureFlow(context, flow));
    const file = lines.find(({ flow }) => flow.name.includes("file"));
    if (!file) throw new Error("no flow is a file");
    const files = (await measureLambdaTimes()).map((one) => addLambdaTime(file, one));
    const [ownHosts, provider] = files.map(({ counted, ran }) => (counted + ran) * 1e3);
    const rows: ReportRow[] = [
      createRow("costCounted", file.counted * 1e3),
      createRow("costAll", ownHosts ?? Number.NaN),
      createRow("costProvider", provider ?? Number.NaN),
    ];
    return { rows, tables: [buildTable(lines.flatMap((line) => (line === file ? files : line)))] };
  } finally {
    await context.close();
  }
};
