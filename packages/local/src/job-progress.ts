import type { Job } from "@mailproof/client/types";
import { barOf, count, inWords } from "./progress.ts";
import type { Parts } from "./status-lines.ts";

/** Rows that a job will try again later. Absent when there are none. */
type Deferred = NonNullable<Job["deferred"]>;

type RunningJob = Pick<Job, "progress" | "deferred">;

type Sample = { readonly atMs: number; readonly processed: number };

/** The rate is that of the last half minute: what a job did at its start says nothing of its end. */
const WINDOW_MS = 30_000;

/** How far a job is, line by line: how many rows are done and how fast, the verdicts so far, and which rows wait. */
export const jobProgress = (now = () => new Date()) => {
  let samples: readonly Sample[] = [];
  return (job: RunningJob, columns: number): readonly Parts[] => {
    const { progress, deferred } = job;
    const atMs = now().getTime();
    const recent = samples.filter((one) => atMs - one.atMs <= WINDOW_MS);
    samples = [...recent, { atMs, processed: progress.processed }];
    return [
      [
        ...doneParts(progress, columns),
        ...speedParts(samples, progress.total - progress.processed, deferred),
      ],
      [verdictsOf(progress)],
      ...(deferred ? [deferredParts(deferred, now())] : []),
    ];
  };
};

/** Not 100 before all of it is done. */
export const percentOf = ({ processed, total }: Job["progress"]): number =>
  total === 0 ? 100 : Math.floor((processed / total) * 100);

const BAR_COLUMNS = 24;
const NARROW_COLUMNS = 60;

const doneParts = (progress: Job["progress"], columns: number): Parts => {
  const percent = percentOf(progress);
  const bar = columns < NARROW_COLUMNS ? [] : [barOf(percent / 100, BAR_COLUMNS)];
  return [...bar, `${percent}%`, `${count(progress.processed)} of ${count(progress.total)}`];
};

/** Time left is said only while nothing waits: no rate tells when a mail server will take a deferred row. */
const speedParts = (
  samples: readonly Sample[],
  left: number,
  deferred: Deferred | undefined,
): Parts => {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.processed === first.processed) return [];
  // Every row that is not done waits: then nothing moves, and a rate would be that of the past.
  if (left > 0 && left === deferred?.count) return [];
  const perSecond = (last.processed - first.processed) / ((last.atMs - first.atMs) / 1_000);
  const rate = perSecond >= 10 ? count(Math.round(perSecond)) : perSecond.toFixed(1);
  const isOpen = deferred !== undefined || left === 0;
  return [`${rate}/s`, ...(isOpen ? [] : [`about ${inWords(left / perSecond)} left`])];
};

const verdictsOf = ({ valid, invalid, risky, unknown }: Job["progress"]): string =>
  `${count(valid)} valid, ${count(invalid)} invalid, ${count(risky)} risky, ${count(unknown)} unknown`;

const deferredParts = (deferred: Deferred, now: Date): Parts => {
  const reasons = Object.entries(deferred.by_reason)
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, rows]) => `${count(rows)} ${reason.replaceAll("_", " ")}`);
  return [
    `${deferredIn(deferred, now)}${reasons.length > 0 ? ":" : ""}`,
    ...(reasons.length > 0 ? [reasons.join(", ")] : []),
  ];
};

/** Such as "169 deferred, next attempt at 14:35". */
export const deferredIn = ({ count: rows, next_attempt_at }: Deferred, now: Date): string => {
  const next = new Date(next_attempt_at);
  const when = next <= now ? "now" : `at ${clockOf(next)}`;
  return `${count(rows)} deferred, next attempt ${when}`;
};

/** In the time zone of the terminal. */
const clockOf = (at: Date): string =>
  at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
