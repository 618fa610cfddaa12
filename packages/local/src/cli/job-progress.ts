import type { Job } from "@mailproof/client/types";
import { formatBar, formatCount, formatDuration } from "./progress.ts";
import type { LineParts } from "./status-lines.ts";

type Deferred = NonNullable<Job["deferred"]>;

type RunningJob = Pick<Job, "progress" | "deferred">;

type Sample = { readonly atMs: number; readonly processed: number };

/** The rate covers the last half minute: a job's start does not predict its end. */
const WINDOW_MS = 30_000;

export const createJobProgress = (now = () => new Date()) => {
  let samples: readonly Sample[] = [];
  return (job: RunningJob, columns: number): readonly LineParts[] => {
    const { progress, deferred } = job;
    const atMs = now().getTime();
    const recent = samples.filter((one) => atMs - one.atMs <= WINDOW_MS);
    samples = [...recent, { atMs, processed: progress.processed }];
    return [
      [
        ...formatDoneParts(progress, columns),
        ...formatSpeedParts(samples, progress.total - progress.processed, deferred),
      ],
      [formatVerdicts(progress)],
      ...(deferred ? [formatDeferredParts(deferred, now())] : []),
    ];
  };
};

/** Rounds down, so that 100 means complete. */
export const getPercent = ({ processed, total }: Job["progress"]): number =>
  total === 0 ? 100 : Math.floor((processed / total) * 100);

const BAR_COLUMNS = 24;
const NARROW_COLUMNS = 60;

const formatDoneParts = (progress: Job["progress"], columns: number): LineParts => {
  const percent = getPercent(progress);
  const bar = columns < NARROW_COLUMNS ? [] : [formatBar(percent / 100, BAR_COLUMNS)];
  return [
    ...bar,
    `${percent}%`,
    `${formatCount(progress.processed)} of ${formatCount(progress.total)}`,
  ];
};

/** The remaining time is shown only while no row is deferred: a rate cannot predict when a mail server accepts it. */
const formatSpeedParts = (
  samples: readonly Sample[],
  left: number,
  deferred: Deferred | undefined,
): LineParts => {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.processed === first.processed) return [];
  // When every remaining row waits, nothing progresses, and the rate would describe the past.
  if (left > 0 && left === deferred?.count) return [];
  const perSecond = (last.processed - first.processed) / ((last.atMs - first.atMs) / 1_000);
  const rate = perSecond >= 10 ? formatCount(Math.round(perSecond)) : perSecond.toFixed(1);
  const isOpen = deferred !== undefined || left === 0;
  return [`${rate}/s`, ...(isOpen ? [] : [`about ${formatDuration(left / perSecond)} left`])];
};

const formatVerdicts = ({ valid, invalid, risky, unknown }: Job["progress"]): string =>
  `${formatCount(valid)} valid, ${formatCount(invalid)} invalid, ${formatCount(risky)} risky, ${formatCount(unknown)} unknown`;

const formatDeferredParts = (deferred: Deferred, now: Date): LineParts => {
  const reasons = Object.entries(deferred.by_reason)
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, rows]) => `${formatCount(rows)} ${reason.replaceAll("_", " ")}`);
  return [
    `${formatDeferred(deferred, now)}${reasons.length > 0 ? ":" : ""}`,
    ...(reasons.length > 0 ? [reasons.join(", ")] : []),
  ];
};

export const formatDeferred = ({ count: rows, next_attempt_at }: Deferred, now: Date): string => {
  const next = new Date(next_attempt_at);
  const when = next <= now ? "now" : `at ${formatClock(next)}`;
  return `${formatCount(rows)} deferred, next attempt ${when}`;
};

const formatClock = (at: Date): string =>
  at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
