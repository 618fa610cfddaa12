import { setTimeout } from "node:timers/promises";
import { rateLimitOver } from "@mailproof/core/access/rate";
import type { Blobs } from "@mailproof/core/blobs";
import type { Queue, Receiving } from "@mailproof/core/queue";
import { INDEXES, type Item, type Key, type Table, type Write } from "@mailproof/core/table";
import { engineOver } from "@mailproof/core/verify/engine";
import { tablePlaces } from "@mailproof/core/verify/table-places";
import { workers } from "@mailproof/core/workers";
import type { World } from "@mailproof/core/world";
import { keyOf } from "@mailproof/core/writes";
import { readEnvironment } from "@mailproof/local/environment";
import { COMPANIES_BELOW, companyLabel, peopleOf } from "@mailproof/local/lab/companies";
import { LAB_ZONE, startLab } from "@mailproof/local/lab/lab";
import { openMailDoors } from "@mailproof/local/mail-doors";
import { given } from "../test/given.ts";
import { givenUpload } from "../test/jobs.ts";
import { send } from "../test/send.ts";
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

type Counted = "writeUnit" | "readUnit" | "queueRequest" | "put" | "get";
type Meter = Record<Counted, number>;

const sizeOf = (item: Item | undefined): number =>
  item ? Buffer.byteLength(JSON.stringify(item)) : 0;
const kilobytes = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1024));
const fourKilobytes = (bytes: number): number => Math.max(1, Math.ceil(bytes / 4096));

/** In an index an item is written where its place there or anything in it changes, and moved where its place does. */
const indexUnits = (before: Item | undefined, after: Item | undefined): number =>
  Object.values(INDEXES).reduce((sum, { pk, sk }) => {
    const placeOf = (item: Item | undefined) =>
      item?.[pk] === undefined || item[sk] === undefined
        ? undefined
        : JSON.stringify([item[pk], item[sk]]);
    const [was, is] = [placeOf(before), placeOf(after)];
    if (was !== undefined && was === is) return sum + kilobytes(sizeOf(after));
    return (
      sum +
      (was ? kilobytes(sizeOf(before)) : 0) +
      (is === undefined ? 0 : kilobytes(sizeOf(after)))
    );
  }, 0);

const countedTable = (table: Table, meter: Meter): Table => {
  const counted = async <T>(
    writes: readonly Write[],
    times: number,
    act: () => Promise<T>,
  ): Promise<T> => {
    const keys: Key[] = writes.map(keyOf);
    const before = await Promise.all(keys.map((key) => table.get(key)));
    const came = await act();
    const after = await Promise.all(keys.map((key) => table.get(key)));
    for (const at of keys.keys()) {
      const larger = Math.max(sizeOf(before[at]), sizeOf(after[at]));
      meter.writeUnit += times * kilobytes(larger) + indexUnits(before[at], after[at]);
    }
    return came;
  };
  return {
    get: async (key) => {
      const item = await table.get(key);
      meter.readUnit += fourKilobytes(sizeOf(item));
      return item;
    },
    query: async (query) => {
      const page = await table.query(query);
      const bytes = page.items.reduce((sum, item) => sum + sizeOf(item), 0);
      meter.readUnit += fourKilobytes(bytes) * (query.index ? 0.5 : 1);
      return page;
    },
    write: (write) => counted([write], 1, () => table.write(write)),
    // A transaction prepares every write and then does it.
    transact: (writes) => counted(writes, 2, () => table.transact(writes)),
  };
};

const PART_BYTES = 8 * 2 ** 20;
const BATCH = 10;

const countedBlobs = (blobs: Blobs, meter: Meter): Blobs => ({
  ...blobs,
  put: async (key, content) => {
    const facts = await blobs.put(key, content);
    meter.put += Math.ceil(facts.bytes / PART_BYTES) + (facts.bytes > PART_BYTES ? 2 : 0);
    return facts;
  },
  head: (key) => {
    meter.get += 1;
    return blobs.head(key);
  },
  get: (key, options) => {
    meter.get += 1;
    return blobs.get(key, options);
  },
});

const countedQueue = (queue: Queue, meter: Meter): Queue => ({
  ...queue,
  sendMany: (name, messages) => {
    meter.queueRequest += Math.ceil(messages.length / BATCH);
    return queue.sendMany(name, messages);
  },
});

const NOTHING: Meter = { writeUnit: 0, readUnit: 0, queueRequest: 0, put: 0, get: 0 };

/** A house of doors that count, in front of the lab's mail servers. */
const openHouse = async () => {
  const lab = await startLab({ companies: 200 });
  const house = await given({ balance: 1_000_000, plan: "scale" });
  const meter = { ...NOTHING };
  const now = () => new Date();
  const sleep = (ms: number, signal?: AbortSignal) =>
    setTimeout(ms, undefined, { signal }).catch(() => undefined);
  const table = countedTable(house.table, meter);
  const mail = openMailDoors(readEnvironment({}), table, lab);
  const places = tablePlaces({ table, now, random: Math.random, sleep });
  const world: World = {
    ...house.world,
    table,
    // Each request with a key is counted in the table, too.
    rateLimit: rateLimitOver(table, house.world.now),
    queue: countedQueue(house.queue, meter),
    blobs: countedBlobs(house.blobs, meter),
    engine: engineOver({ ...mail, table, places }),
    names: mail.names,
    sleep,
  };
  const close = async () => {
    mail.close();
    await lab.close();
  };
  return { house, world, meter, close };
};

type House = Awaited<ReturnType<typeof openHouse>>;

/** Takes what is queued, as SQS would hand it out: each message is received and removed. */
const workOff = async ({ world, meter, house }: House): Promise<void> => {
  const queue: Queue & Receiving = house.queue;
  for (const worker of workers)
    for (;;) {
      const received = await queue.receive(worker.queue, { waitMs: 0 });
      if (received.length === 0) break;
      for (const { body, receipt } of received) {
        meter.queueRequest += 2;
        await worker.handle(world, body).catch(() => undefined);
        await queue.done(receipt);
      }
    }
};

const COMPANIES = 200;

const domainOf = (company: number): string =>
  `${companyLabel(company)}.${COMPANIES_BELOW}.${LAB_ZONE}`;

/** People of the lab's companies, none of them twice. */
const people = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, n) => {
    const number = ((from + n) % COMPANIES) + 1;
    const staff = peopleOf(domainOf(number));
    const person = staff[Math.floor((from + n) / COMPANIES) % staff.length];
    return `${person?.local}@${domainOf(number)}`;
  });

/** `seconds`: how long Lambdas run for one of it, all together. An assumption, told beside what was counted. */
type Flow = {
  readonly name: string;
  readonly per: number;
  readonly calls: number;
  readonly seconds: number;
  readonly run: (house: House) => Promise<unknown>;
};

const ask =
  (route: string, body?: unknown, headers?: Readonly<Record<string, string>>) =>
  async ({ world, house }: House) => {
    const told = await send(world, route, {
      key: house.liveKey,
      ...(body !== undefined && { body }),
      ...(headers && { headers }),
    });
    if (told.statusCode >= 300) throw new Error(`${route} came to ${told.text}`);
    return told;
  };

const FILE_ROWS = 2_000;
const [first = ""] = people(1, 9_000);
const domain = `good.senders.${LAB_ZONE}`;

const FLOWS: readonly Flow[] = [
  {
    name: "POST /v1/verify, new",
    per: 1,
    calls: 1,
    seconds: 2,
    run: ask("POST /v1/verify", { email: first }),
  },
  {
    name: "POST /v1/verify, cached",
    per: 1,
    calls: 1,
    seconds: 0.02,
    run: ask("POST /v1/verify", { email: first }),
  },
  {
    name: "POST /v1/verify, keyed",
    per: 1,
    calls: 1,
    seconds: 2,
    run: ask("POST /v1/verify", { email: people(1, 9_500)[0] }, { "idempotency-key": "k" }),
  },
  {
    name: "POST /v1/verify/batch, an address",
    per: 100,
    calls: 1,
    seconds: 6,
    run: async (house) => {
      await ask("POST /v1/verify/batch", { emails: people(100, 5_000) })(house);
      await workOff(house);
    },
  },
  {
    name: "POST /v1/verify/file, an address",
    per: FILE_ROWS,
    calls: 2,
    seconds: (FILE_ROWS / 500) * 30,
    run: async (house) => {
      const list = `email\n${people(FILE_ROWS).join("\n")}\n`;
      const file_key = await givenUpload(house.house, house.house.liveKey, list);
      await ask("POST /v1/verify/file", { action: "process", file_key })(house);
      await workOff(house);
    },
  },
  { name: "GET /v1/jobs", per: 1, calls: 1, seconds: 0.02, run: ask("GET /v1/jobs") },
  {
    name: "POST /v1/find",
    per: 1,
    calls: 1,
    seconds: 2,
    run: ask("POST /v1/find", {
      first_name: peopleOf(domainOf(3))[0]?.first,
      last_name: peopleOf(domainOf(3))[0]?.last,
      domain: domainOf(3),
    }),
  },
  {
    name: "POST /v1/deliverability/check",
    per: 1,
    calls: 1,
    seconds: 1,
    run: ask("POST /v1/deliverability/check", { domain }),
  },
  {
    name: "GET /v1/deliverability/checks",
    per: 1,
    calls: 1,
    seconds: 0.02,
    run: ask("GET /v1/deliverability/checks"),
  },
  {
    name: "POST /v1/activity/events, an event",
    per: 100,
    calls: 1,
    seconds: 0.2,
    run: async (house) => {
      const occurred_at = house.world.now().toISOString();
      const events = people(100, 3_000).map((email, n) => ({
        id: `e${n}`,
        email,
        type: "open",
        occurred_at,
      }));
      await ask("POST /v1/activity/events", { events })(house);
    },
  },
  { name: "GET /v1/account", per: 1, calls: 1, seconds: 0.02, run: ask("GET /v1/account") },
];

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
