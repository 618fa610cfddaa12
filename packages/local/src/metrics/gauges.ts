import { stat } from "node:fs/promises";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Gauges, readGauges } from "@mailproof/core/background/gauges";
import type { MachineMetricName } from "@mailproof/core/background/metric-names";
import { listProviderBlocks } from "@mailproof/core/smtp-pool/circuit-breaker/circuit-items";
import { getEditionAgeMs } from "@mailproof/mail/lists/edition-age";
import type { Registry } from "prom-client";
import type { LocalWorld } from "../app.ts";
import { ignoreMissing } from "../storage/file-blobs.ts";
import { addReading } from "./registry.ts";

const EVENT_LOOP_RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;

/** Adds the metrics that are read at each scrape. Returns the function that stops them. */
export const addGauges = (registry: Registry, world: LocalWorld, directory: string) => {
  const { engine, now, queue, settings } = world;
  const delay = monitorEventLoopDelay({ resolution: EVENT_LOOP_RESOLUTION_MS });
  delay.enable();
  addReading(registry, "mailproof_build_info", () => [
    { labels: { version: settings.version, node: process.version }, value: 1 },
  ]);
  addProcessReadings(registry);
  addReading(registry, "mailproof_event_loop_delay_seconds", () => {
    const [p99, max] = [delay.percentile(99), delay.max];
    delay.reset();
    return [
      { labels: { stat: "p99" }, value: p99 / NANOSECONDS },
      { labels: { stat: "max" }, value: max / NANOSECONDS },
    ];
  });
  addReading(registry, "mailproof_sqlite_size_bytes", () =>
    Promise.all(
      ["state", "queue"].map(async (database) => ({
        labels: { database },
        value: await addSizes([
          join(directory, `${database}.sqlite`),
          join(directory, `${database}.sqlite-wal`),
        ]),
      })),
    ),
  );
  addReading(registry, "mailproof_disk_free_bytes", () => {
    const value = world.freeBytes();
    return value === null ? [] : [{ value }];
  });
  addReading(registry, "mailproof_queue_messages", () =>
    queue.readDepths().map(({ name, messages }) => ({ labels: { queue: name }, value: messages })),
  );
  addReading(registry, "mailproof_queue_oldest_message_age_seconds", () =>
    queue
      .readDepths()
      .map(({ name, waitMs }) => ({ labels: { queue: name }, value: waitMs / 1000 })),
  );
  addHealthReadings(registry, world);
  // The list has only open circuits, so a provider that accepts our sessions has no sample.
  addReading(registry, "mailproof_mail_provider_blocked", async () =>
    (await listProviderBlocks(world)).map(({ provider, exit }) => ({
      labels: { provider, exit },
      value: 1,
    })),
  );
  addReading(registry, "mailproof_lists_age_seconds", () => [
    { value: getEditionAgeMs(engine.lists.edition, now()) / 1_000 },
  ]);
  return () => delay.disable();
};

const addSizes = async (files: readonly string[]): Promise<number> => {
  const found = await Promise.all(files.map((file) => ignoreMissing(stat(file))));
  return found.reduce((sum, one) => sum + (one?.size ?? 0), 0);
};

const addProcessReadings = (registry: Registry): void => {
  addReading(registry, "process_resident_memory_bytes", () => [
    { value: process.memoryUsage.rss() },
  ]);
  addReading(registry, "process_cpu_seconds_total", () => {
    const { user, system } = process.cpuUsage();
    return [{ value: (user + system) / 1e6 }];
  });
  addReading(registry, "process_start_time_seconds", () => [
    { value: performance.timeOrigin / 1000 },
  ]);
};

const HEALTH = {
  dueAgeSeconds: "mailproof_due_age_seconds",
  heldOverAnHour: "mailproof_credits_held_over_an_hour",
  dueMisplaced: "mailproof_due_misplaced_items",
  clockJumpSeconds: "mailproof_clock_jump_seconds",
  resourcesExhausted: "mailproof_resources_exhausted",
  providersInDoubt: "mailproof_mail_providers_in_doubt",
  mailProvidersBlocked: "mailproof_mail_providers_blocked",
} as const satisfies Readonly<Record<keyof Gauges, MachineMetricName>>;

const addHealthReadings = (registry: Registry, world: LocalWorld): void => {
  let reading: Promise<Gauges> | null = null;
  const readOnce = (): Promise<Gauges> => {
    reading ??= readGauges(world).finally(() => {
      reading = null;
    });
    return reading;
  };
  for (const field of Object.keys(HEALTH) as (keyof Gauges)[])
    addReading(registry, HEALTH[field], async () => [{ value: (await readOnce())[field] }]);
};
