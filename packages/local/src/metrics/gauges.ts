import { stat } from "node:fs/promises";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Gauges, readGauges } from "@mailproof/core/background/gauges";
import type { LocalWorld } from "../app.ts";
import { ignoreMissing } from "../storage/file-blobs.ts";
import type { Metric } from "./exposition.ts";

const EVENT_LOOP_RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;

/** What is read at each scrape. */
export const createGaugeMetrics = (
  world: LocalWorld,
  directory: string,
): { readonly metrics: readonly Metric[]; readonly stop: () => void } => {
  const delay = monitorEventLoopDelay({ resolution: EVENT_LOOP_RESOLUTION_MS });
  delay.enable();
  const metrics: readonly Metric[] = [
    {
      name: "mailproof_build_info",
      help: "The release; always 1.",
      type: "gauge",
      read: () => [
        { labels: { version: world.settings.version, node: process.version }, value: 1 },
      ],
    },
    ...createProcessMetrics(),
    {
      name: "mailproof_event_loop_delay_seconds",
      help: "How late the event loop was since the last scrape: the 99th percentile and the maximum.",
      type: "gauge",
      read: () => {
        const [p99, max] = [delay.percentile(99), delay.max];
        delay.reset();
        return [
          { labels: { stat: "p99" }, value: p99 / NANOSECONDS },
          { labels: { stat: "max" }, value: max / NANOSECONDS },
        ];
      },
    },
    {
      name: "mailproof_sqlite_size_bytes",
      help: "Size of each database with its write-ahead log.",
      type: "gauge",
      read: () =>
        Promise.all(
          ["state", "queue"].map(async (database) => ({
            labels: { database },
            value: await addSizes([
              join(directory, `${database}.sqlite`),
              join(directory, `${database}.sqlite-wal`),
            ]),
          })),
        ),
    },
    ...createQueueMetrics(world),
    ...createHealthMetrics(world),
  ];
  return { metrics, stop: () => delay.disable() };
};

const addSizes = async (files: readonly string[]): Promise<number> => {
  const found = await Promise.all(files.map((file) => ignoreMissing(stat(file))));
  return found.reduce((sum, one) => sum + (one?.size ?? 0), 0);
};

/** The names that every Prometheus client has for these. */
const createProcessMetrics = (): readonly Metric[] => [
  {
    name: "process_resident_memory_bytes",
    help: "Resident memory.",
    type: "gauge",
    read: () => [{ value: process.memoryUsage.rss() }],
  },
  {
    name: "process_cpu_seconds_total",
    help: "Processor time used.",
    type: "counter",
    read: () => {
      const { user, system } = process.cpuUsage();
      return [{ value: (user + system) / 1e6 }];
    },
  },
  {
    name: "process_start_time_seconds",
    help: "Start of the process, in seconds since 1970.",
    type: "gauge",
    read: () => [{ value: performance.timeOrigin / 1000 }],
  },
];

const createQueueMetrics = ({ queue }: LocalWorld): readonly Metric[] => [
  {
    name: "mailproof_queue_messages",
    help: "Messages in each queue, those in progress included.",
    type: "gauge",
    read: () =>
      queue
        .readDepths()
        .map(({ name, messages }) => ({ labels: { queue: name }, value: messages })),
  },
  {
    name: "mailproof_queue_oldest_message_age_seconds",
    help: "For how long the oldest message that a worker may take has waited.",
    type: "gauge",
    read: () =>
      queue
        .readDepths()
        .map(({ name, waitMs }) => ({ labels: { queue: name }, value: waitMs / 1000 })),
  },
];

/** The same values as `admin gauges` prints. */
const HEALTH: Readonly<Record<keyof Gauges, readonly [name: string, help: string]>> = {
  dueAgeSeconds: ["mailproof_due_age_seconds", "How overdue the oldest scheduled work is."],
  heldOverAnHour: ["mailproof_credits_held_over_an_hour", "Credits held for over an hour."],
  dueMisplaced: ["mailproof_due_misplaced_items", "Items that a wrong clock scheduled."],
  clockJumpSeconds: ["mailproof_clock_jump_seconds", "Jump of the clock within the last hour."],
  resourcesExhausted: [
    "mailproof_resources_exhausted",
    "How often descriptors, memory or ports were short within the last hour.",
  ],
  providersInDoubt: [
    "mailproof_mail_providers_in_doubt",
    "Mail providers that accepted a random recipient.",
  ],
  mailProvidersBlocked: [
    "mailproof_mail_providers_blocked",
    "Circuits of large mail providers that are open: they refuse our sessions.",
  ],
};

const createHealthMetrics = (world: LocalWorld): readonly Metric[] => {
  // One reading serves all metrics of a scrape.
  let reading: Promise<Gauges> | null = null;
  const readOnce = (): Promise<Gauges> => {
    reading ??= readGauges(world).finally(() => {
      reading = null;
    });
    return reading;
  };
  const names = Object.keys(HEALTH) as (keyof Gauges)[];
  return names.map((field) => {
    const [name, help] = HEALTH[field];
    return { name, help, type: "gauge", read: async () => [{ value: (await readOnce())[field] }] };
  });
};
