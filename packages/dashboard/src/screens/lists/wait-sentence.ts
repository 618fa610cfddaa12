import type { Job } from "@mailproof/client";
import { formatClock, formatNumber, formatTime } from "../../format.ts";

const DAY_MS = 86_400_000;

const formatWhen = (iso: string, now: number): string =>
  Math.abs(Date.parse(iso) - now) < DAY_MS ? formatClock(iso) : formatTime(iso);

const toEndSentence = (end: string | undefined, now: number): string =>
  end === undefined ? "" : ` The list ends by ${formatWhen(end, now)} at the latest.`;

/** Says why rows still wait for a result, and by when the list ends if the service knows it. Undefined when no row waits. */
export const toWaitSentence = (
  { deferred }: Pick<Job, "deferred">,
  now: number = Date.now(),
): string | undefined => {
  if (!deferred) return undefined;
  const { count, by_reason, next_attempt_at: at, latest_end_at: end } = deferred;
  const rows = count === 1 ? "1 row" : `${formatNumber(count)} rows`;
  const [is, waits] = count === 1 ? ["is", "waits"] : ["are", "wait"];
  if (Date.parse(at) <= now) return `${rows} ${is} being retried now.`;
  const when = formatWhen(at, now);
  return by_reason["waiting_for_provider"] === count
    ? `${rows} ${waits} for a connection to the mail provider. The next attempt is at ${when}.`
    : `${rows} will be retried at ${when}.${toEndSentence(end, now)}`;
};
