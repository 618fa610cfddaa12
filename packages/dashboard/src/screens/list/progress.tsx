import type { GetJobData } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatClock, formatCount, formatNumber, formatShare, formatTime } from "../../format.ts";
import { isRunning, toState } from "../lists/job.ts";
import { toWaitSentence } from "../lists/wait-sentence.ts";
import type { Facets } from "./facets.ts";

const STEPS = 1_000;

const formatDone = ({ processed, total }: GetJobData["progress"]): string =>
  formatShare(total === 0 ? 0 : processed / total);

/** When all remaining rows wait for the same moment, one sentence states this moment and the number of results. */
const toRunningSentence = (job: GetJobData): string => {
  const { progress, deferred } = job;
  const left = progress.total - progress.processed;
  const wait = toWaitSentence(job);
  if (progress.processed === 0)
    return `${formatCount(left, "address is", "addresses are")} being verified. ${wait ?? "The first results come within seconds."}`;
  const now = `${formatDone(progress)} done. Use it now; ${formatCount(left, "row")} may still change`;
  const isAll = deferred?.count === left && !("waiting_for_provider" in deferred.by_reason);
  const at = isAll && deferred && Date.parse(deferred.next_attempt_at) > Date.now();
  const end = deferred?.latest_end_at;
  const latest = end === undefined ? "" : ` The list ends by ${formatTime(end)} at the latest.`;
  if (at) return `${now}: retried at ${formatClock(deferred.next_attempt_at)}.${latest}`;
  return `${now}. ${wait ?? ""}`;
};

/** The sentence below the title: the list's progress, and that its results can be used. */
const toSentence = (job: GetJobData): string => {
  if (isRunning(job)) return toRunningSentence(job);
  const { progress, status, completed_at: at, error } = job;
  const { processed, total } = progress;
  const when = at ? `, ${formatTime(at)}` : "";
  if (status === "completed" && processed === total)
    return `${formatCount(total, "address", "addresses")} verified${when}.`;
  const state = toState(job);
  const some = `${formatNumber(processed)} of ${formatCount(total, "address", "addresses")} verified`;
  return `${state.charAt(0).toUpperCase()}${state.slice(1)}: ${some}${when}. ${error ?? ""}`;
};

const readCharged = (): number | undefined =>
  (history.state as { readonly charged?: number } | null)?.charged;

const PARTS = { yes: "is-valid", careful: "is-risky", no: "is-invalid" } as const;

type Props = { readonly job: GetJobData; readonly facets: Facets };

export const Progress = ({ job, facets }: Props) => {
  const { total, processed } = job.progress;
  const { credits_refunded: refunded } = job;
  const charged = readCharged();
  let x = 0;
  return (
    <div class="list-progress">
      <svg
        viewBox={`0 0 ${STEPS} 4`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${formatNumber(processed)} of ${formatCount(total, "row has", "rows have")} a result`}
      >
        <rect class="empty" width={STEPS} height="4" />
        {Object.entries(PARTS).map(([advice, tone]) => {
          const width = total === 0 ? 0 : ((facets.send[advice] ?? 0) / total) * STEPS;
          x += width;
          return <rect key={advice} class={tone} x={x - width} width={width} height="4" />;
        })}
      </svg>
      <p>
        {toSentence(job)}
        {charged !== undefined && ` Charged: ${formatCount(charged, "credit")}.`}
        {refunded !== undefined && ` ${formatCount(refunded, "credit")} refunded.`}
        {job.continues_job_id !== undefined && (
          <>
            {" "}
            {formatCount(job.new_emails ?? 0, "address is", "addresses are")} new since the{" "}
            <a href={toHref(`lists/${job.continues_job_id}`)}>earlier list</a>.
          </>
        )}
      </p>
    </div>
  );
};
