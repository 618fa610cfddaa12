import { FLOWS, type Flow } from "./cost/flows.ts";
import { type House, openHouse } from "./cost/house.ts";
import type { Counted, Meter } from "./cost/meter.ts";
import { type Compared, held, type Measured, type Report } from "./report.ts";

// What AWS would ask for each flow: every request at the doors is counted, with the capacity units of the items it
// touches, against the lab's mail servers. What runs inside a Lambda is not counted but assumed, and told apart.

/** US East, on demand, in dollars; as published in November 2026. */
const PRICES = {
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  queueRequest: 0.4e-6,
  put: 5e-6,
  get: 0.4e-6,
  call: 1e-6,
  run: 0.2e-6,
  gigabyteSecond: 13.3334e-6,
} as const;

const GIGABYTES = 0.5;

const dollars = (meter: Meter): number =>
  (Object.keys(meter) as Counted[]).reduce((sum, one) => sum + meter[one] * PRICES[one], 0);

const THOUSAND = 1_000;

type Line = {
  readonly flow: Flow;
  readonly meter: Meter;
  readonly counted: number;
  readonly ran: number;
};

const lineOf = async (house: House, flow: Flow): Promise<Line> => {
  const before = { ...house.meter };
  await flow.run(house);
  const meter = Object.fromEntries(
    (Object.keys(before) as Counted[]).map((one) => [one, house.meter[one] - before[one]]),
  ) as Meter;
  const perThousand = THOUSAND / flow.per;
  const ran =
    flow.calls * (PRICES.call + PRICES.run) + flow.seconds * GIGABYTES * PRICES.gigabyteSecond;
  return { flow, meter, counted: dollars(meter) * perThousand, ran: ran * perThousand };
};

const cell = (value: number): string => value.toFixed(value < 10 ? 2 : 0);
const money = (value: number): string => `$${value.toFixed(5)}`;

const tableOf = (lines: readonly Line[]): Compared => ({
  title: "Dollars for 1,000 of each: counted at the doors, and with calls and Lambda time assumed",
  head: ["flow", "WRU", "RRU", "SQS", "S3", "counted", "seconds", "with Lambda"],
  rows: lines.map(({ flow, meter, counted, ran }) => [
    flow.name,
    cell(meter.writeUnit / flow.per),
    cell(meter.readUnit / flow.per),
    cell(meter.queueRequest / flow.per),
    cell((meter.put + meter.get) / flow.per),
    money(counted),
    cell(flow.seconds / flow.per),
    money(counted + ran),
  ]),
});

export const run = async (): Promise<Report> => {
  const house = await openHouse();
  try {
    const lines: Line[] = [];
    for (const flow of FLOWS) lines.push(await lineOf(house, flow));
    const file = lines.find(({ flow }) => flow.name.includes("file"));
    const rows: Measured[] = [
      held("costCounted", (file?.counted ?? 0) * 1e3),
      held("costAll", ((file?.counted ?? 0) + (file?.ran ?? 0)) * 1e3),
    ];
    return { rows, tables: [tableOf(lines)] };
  } finally {
    await house.close();
  }
};
