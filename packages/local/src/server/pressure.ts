import { totalmem } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { Pressure, ReadPressure } from "@mailproof/core/ports/pressure";
import type { Log } from "@mailproof/core/ports/world";

export type PressureReading = {
  /** The average delay of the event loop since the last reading (ms). */
  readonly delayMs: number;
  /** The share of the allowed memory that this process uses. */
  readonly memoryShare: number;
  /** The requests in progress. Without requests, another program or a pause of the machine delays the loop. */
  readonly requests: number;
};

/** Pressure starts at `from` and ends below `until`. Between these values the state stays. */
export const PRESSURE_LIMITS = {
  // Every request waits for several turns of the loop: at 300 ms each, for more than a second.
  delayMs: { from: 300, until: 100 },
  // The rest is for requests and lists in progress.
  memoryShare: { from: 0.85, until: 0.75 },
} as const;

const isOver = (
  { from, until }: { readonly from: number; readonly until: number },
  value: number,
  wasOver: boolean,
): boolean => value >= (wasOver ? until : from);

/** The loop counts as late after this many consecutive late readings: a single late reading is a pause, which a refusal would not shorten. */
const LATE_READINGS_MIN = 3;

type PressureState = { readonly pressure: Pressure | null; readonly lateReadings: number };

/** Above this share of its memory, the process takes only as many rows as a busy thread needs. */
const ROOMY_BELOW = 0.5;

const NO_PRESSURE: PressureState = { pressure: null, lateReadings: 0 };

export const computePressure = (
  before: PressureState | undefined,
  { delayMs, memoryShare, requests }: PressureReading,
): PressureState => {
  const { delayMs: late, memoryShare: short } = PRESSURE_LIMITS;
  const { pressure, lateReadings: earlier } = before ?? NO_PRESSURE;
  const wasLate = pressure === "event_loop_late";
  const isLate = isOver(late, delayMs, wasLate) && requests > 0;
  const lateReadings = isLate ? earlier + 1 : 0;
  if (isOver(short, memoryShare, pressure === "memory_short"))
    return { pressure: "memory_short", lateReadings };
  return { pressure: lateReadings >= LATE_READINGS_MIN ? "event_loop_late" : null, lateReadings };
};

const READ_EVERY_MS = 1_000;
const NS_PER_MS = 1e6;

/** Measures once a second, and logs when pressure starts and ends. */
export const startPressureMeter = (
  log: Log,
  countRequests: () => number,
  read: () => Omit<PressureReading, "requests"> = createProcessReader(),
) => {
  let state = NO_PRESSURE;
  let hasMemory = true;
  const poll = (): void => {
    const reading = { ...read(), requests: countRequests() };
    const next = computePressure(state, reading);
    const { pressure: kind } = next;
    if (kind !== state.pressure)
      log(kind ? "pressure_began" : "pressure_ended", { kind, ...reading });
    state = next;
    hasMemory = reading.memoryShare < ROOMY_BELOW;
  };
  const timer = setInterval(poll, READ_EVERY_MS).unref();
  const pressure: ReadPressure = () => state.pressure;
  return { pressure, hasMemory: () => hasMemory, poll, stop: () => clearInterval(timer) };
};

const RESOLUTION_MS = 20;

const createProcessReader = (): (() => Omit<PressureReading, "requests">) => {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  return () => {
    const delayMs = delay.count > 0 ? delay.mean / NS_PER_MS - RESOLUTION_MS : 0;
    delay.reset();
    const memoryShare = computeMemoryShare({
      ...process.memoryUsage(),
      heapMax: getHeapStatistics().heap_size_limit,
      containerMax: process.constrainedMemory(),
      machineMax: totalmem(),
      available: process.availableMemory(),
    });
    return { delayMs: Math.max(0, Math.round(delayMs)), memoryShare };
  };
};

type Memory = Readonly<
  Record<"rss" | "heapUsed" | "heapMax" | "containerMax" | "machineMax" | "available", number>
>;

/**
 * The share used of the heap, or of what the container or the machine has for this process; the higher of the two. Bodies
 * and files are outside of the heap. A container's figure of what is available counts the cache of files as used, so its
 * limit is taken; what the other programs of a machine have is not there for this one.
 */
export const computeMemoryShare = (memory: Memory): number => {
  const { rss, heapUsed, heapMax, containerMax, machineMax, available } = memory;
  // Without a container the limit is 0, or above any machine's memory.
  const isContained = containerMax > 0 && containerMax < machineMax;
  return Math.max(heapUsed / heapMax, rss / (isContained ? containerMax : rss + available));
};
