import type { GetJobData, VerifyAgainInput } from "@mailproof/client";
import { createRandomId } from "@mailproof/client/random-id";
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatCount, formatNumber } from "../../format.ts";
import { type Action, useAction } from "../../parts/action.ts";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { useLoad, usePolling } from "../../parts/load.tsx";
import { usePrices } from "../../parts/price.ts";
import { getClient, isTestKey, may, refreshAccount } from "../../session.ts";
import { isRunning } from "../lists/job.ts";
import { toWaitSentence } from "../lists/wait-sentence.ts";

// Verifies rows of a list again, also while it runs, perhaps at a corrected domain: they become a new list, whose results
// replace theirs.

type Wanted = Omit<VerifyAgainInput, "id">;

/** After a failure the same rows are sent as the same request, and are charged once. */
export const useAgain = (id: string, onStarted: () => void): Action<[Wanted]> => {
  const sent = useRef({ rows: "", key: "" });
  return useAction(async (wanted: Wanted) => {
    const rows = JSON.stringify([id, wanted]);
    if (sent.current.rows !== rows) sent.current = { rows, key: createRandomId() };
    await getClient().verifyAgain({ id, ...wanted }, { idempotencyKey: sent.current.key });
    sent.current = { rows: "", key: "" };
    onStarted();
    await refreshAccount();
  });
};

const usePriceWords = (rows: number): string => {
  const { verify_file_per_address: price } = usePrices();
  if (isTestKey.value) return "free";
  return price === undefined ? "" : formatCount(rows * price, "credit");
};

type ButtonProps = {
  readonly job: GetJobData;
  /** The table's filter and text, as the API expects them; empty when nothing is chosen. */
  readonly chosen: { readonly filter?: string; readonly q?: string };
  readonly again: Action<[Wanted]>;
};

export const AgainButton = ({ job, chosen, again }: ButtonProps) => {
  const isChosen = chosen.filter !== undefined || chosen.q !== undefined;
  const rows = isChosen ? (job.matching_rows ?? 0) : job.progress.unknown;
  const price = usePriceWords(rows);
  const isOff =
    !may("verification:write") || job.kind === "single" || job.child_job_id !== undefined;
  if (isOff || rows === 0 || job.parent_job_id !== undefined) return null;
  const what = isChosen ? formatCount(rows, "row") : `${formatNumber(rows)} unknown`;
  return (
    <button
      type="button"
      aria-disabled={again.isRunning}
      onClick={() => void again.run(isChosen ? chosen : { filter: "status:unknown" })}
    >
      {again.isRunning ? "Starting …" : `Verify ${what} again · ${price}`}
    </button>
  );
};

type CorrectionsProps = Pick<ButtonProps, "job" | "again">;

export const Corrections = ({ job, again }: CorrectionsProps) => {
  const typos = job.summary?.typos ?? [];
  if (!may("verification:write") || typos.length === 0 || job.parent_job_id !== undefined)
    return null;
  return (
    <section class="facet" aria-label="To correct">
      <h2>To correct</h2>
      <ul class="facet-values corrections">
        {typos.map((typo) => (
          <Correction key={`${typo.domain} ${typo.meant}`} typo={typo} job={job} again={again} />
        ))}
      </ul>
    </section>
  );
};

export const Suspicions = ({ job }: Pick<ButtonProps, "job">) => {
  const suspicions = job.summary?.suspicions ?? [];
  if (suspicions.length === 0) return null;
  return (
    <section class="facet" aria-label="To check">
      <h2>To check</h2>
      <ul class="facet-values">
        {suspicions.map(({ at, message }) => (
          <li key={at}>{message}</li>
        ))}
      </ul>
    </section>
  );
};

/** The service whose verdicts the list has, and this one, by the mail that was sent since. */
export const WhoWasRight = ({ job }: Pick<ButtonProps, "job">) => {
  const elsewhere = job.summary?.elsewhere;
  if (!elsewhere || elsewhere.bounced.rows + elsewhere.delivered.rows === 0) return null;
  const describe = ({ rows, vendor_right, mailproof_right }: typeof elsewhere.bounced) =>
    `${elsewhere.vendor} was right about ${formatNumber(vendor_right)} of ${formatNumber(rows)}, we about ${formatNumber(mailproof_right)}.`;
  return (
    <section class="facet" aria-label="Who was right">
      <h2>Who was right</h2>
      <ul class="facet-values">
        <li>Bounced: {describe(elsewhere.bounced)}</li>
        <li>Delivered: {describe(elsewhere.delivered)}</li>
      </ul>
    </section>
  );
};

type Typo = NonNullable<GetJobData["summary"]>["typos"][number];

const Correction = ({
  typo: { domain, meant, count },
  job,
  again,
}: CorrectionsProps & { readonly typo: Typo }) => {
  const price = usePriceWords(count);
  const isOff = again.isRunning || job.child_job_id !== undefined;
  return (
    <li>
      <span>
        {domain} → {meant}
      </span>{" "}
      <span class="number">{formatNumber(count)}</span>
      <button
        type="button"
        class="quiet"
        aria-disabled={isOff}
        onClick={() => {
          if (!isOff) void again.run({ correct: { domain, meant } });
        }}
      >
        Correct and verify · {price === "free" || price === "" ? price : `${price} at most`}
        <span class="unseen">
          {" "}
          for {domain}, meant {meant}
        </span>
      </button>
    </li>
  );
};

const POLL_MS = 2_000;

type ChildProps = { readonly id: string; readonly onEnded: () => void };

export const ChildProgress = ({ id, onEnded }: ChildProps) => {
  const load = useLoad(
    (signal) => getClient().getJob({ id, include_results: false }, { signal }),
    [id],
  );
  const child = load.data;
  const hasEnded = child !== undefined && !isRunning(child);
  usePolling(load, hasEnded ? null : POLL_MS);
  useLayoutEffect(() => {
    if (hasEnded) onEnded();
  }, [hasEnded]);
  const cancel = useAction(async () => {
    await getClient().cancelJob({ id });
    load.reload();
    await refreshAccount();
  });
  if (!child) return null;
  const { total, processed } = child.progress;
  return (
    <div class="notice child-progress" role="status">
      {formatCount(total, "row is", "rows are")} verified again: {formatNumber(processed)} done.
      They keep their results until then. {toWaitSentence(child)}{" "}
      {may("verification:write") && (
        <button
          type="button"
          class="quiet"
          aria-disabled={cancel.isRunning}
          onClick={() => void cancel.run()}
        >
          Stop, and refund the rest
        </button>
      )}
      {cancel.error !== undefined && <ErrorPanel error={cancel.error} />}
    </div>
  );
};
