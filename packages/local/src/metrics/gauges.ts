import { stat } from "node:fs/promises";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Gauges, readGauges } from "@mailproof/core/background/gauges";
import type { MachineMetricName } from "@mailproof/core/background/metric-names";
import { listProviderBlocks } from "@mailproof/core/smtp-pool/circuit-breaker/circuit-items";
import { getEditionAgeMs } from "@mailproof/mail/lists/edition-age";
import type { LocalWorld } from "../app.ts";
import { ignoreMissing } from "../storage/file-blobs.ts";
import { createReading } from "./described.ts";
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
    createReading("mailproof_build_info", () => [
      { labels: { version: world.settings.version, node: process.version }, value: 1 },
    ]),
    ...createProcessMetrics(),
    createReading("mailproof_event_loop_delay_seconds", () => {
      const [p99, max] = [delay.percentile(99), delay.max];
      delay.reset();
      return [
        { labels: { stat: "p99" }, value: p99 / NANOSECONDS },
        { labels: { stat: "max" }, value: max / NANOSECONDS },
      ];
    }),
    createReading("mailproof_sqlite_size_bytes", () =>
      Promise.all(
        ["state", "queue"].map(async (database) => ({
          labels: { database },
          value: await addSizes([
            join(directory, `${database}.sqlite`),
            join(directory, `${database}.sqlite-wal`),
          ]),
        })),
      ),
    ),
    ...createQueueMetrics(world),
    ...createHealthMetrics(world),
    createBlockMetric(world),
    createListsMetric(world),
  ];
  return { metrics, stop: () => delay.disable() };
};

const addSizes = async (files: readonly string[]): Promise<number> => {
  const found = await Promise.all(files.map((file) => ignoreMissing(stat(file))));
  return found.reduce((sum, one) => sum + (one?.size ?? 0), 0);
};

const createProcessMetrics = (): readonly Metric[] => [
  createReading("process_resident_memory_bytes", () => [{ value: process.memoryUsage.rss() }]),
  createReading("process_cpu_seconds_total", () => {
    const { user, system } = process.cpuUsage();
    return [{ value: (user + system) / 1e6 }];
  }),
  createReading("process_start_time_seconds", () => [{ value: performance.timeOrigin / 1000 }]),
];

const createQueueMetrics = ({ queue }: LocalWorld): readonly Metric[] => [
  createReading("mailproof_queue_messages", () =>
    queue.readDepths().map(({ name, messages }) => ({ labels: { queue: name }, value: messages })),
  ),
  createReading("mailproof_queue_oldest_message_age_seconds", () =>
    queue
      .readDepths()
      .map(({ name, waitMs }) => ({ labels: { queue: name }, value: waitMs / 1000 })),
  ),
];

const createListsMetric = ({ engine, now }: LocalWorld): Metric =>
  createReading("mailproof_lists_age_seconds", async () => [
    { value: getEditionAgeMs(engine.lists.edition, now()) / 1_000 },
  ]);

/** A circuit is listed while it is open, so a provider that accepts our sessions has no sample. */
const createBlockMetric = (world: LocalWorld): Metric =>
  createReading("mailproof_mail_provider_blocked", async () =>
    (await listProviderBlocks(world)).map(({ provider, exit }) => ({
      labels: { provider, exit },
      value: 1,
    })),
  );

/** The same values as `admin gauges` prints. */
const HEALTH = {
  dueAgeSeconds: "mailproof_due_age_seconds",
  heldOverAnHour: "mailproof_credits_held_over_an_hour",
  dueMisplaced: "mailproof_due_misplaced_items",
  clockJumpSeconds: "mailproof_clock_jump_seconds",
  resourcesExhausted: "mailproof_resources_exhausted",
  providersInDoubt: "mailproof_mail_providers_in_doubt",
  mailProvidersBlocked: "mailproof_mail_providers_blocked",
} as const satisfies Readonly<Record<keyof Gauges, MachineMetricName>>;

const createHealthMetrics = (world: LocalWorld): readonly Metric[] => {
  // One reading serves all metrics of a scrape.
  let reading: Promise<Gauges> | null = null;
  const readOnce = (): Promise<Gauges> => {
    reading ??= readGauges(world).finally(() => {
      reading = null;
    });
    return reading;
  };
  const fields = Object.keys(HEALTH) as (keyof Gauges)[];
  return fields.map((field) =>
    createReading(HEALTH[field], async () => [{ value: (await readOnce())[field] }]),
  );
};
