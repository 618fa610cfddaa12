import type { ResultRow } from "@mailproof/client";
import { useLayoutEffect } from "preact/hooks";
import { toHref } from "../../base.ts";
import { formatClock } from "../../format.ts";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { useLoad, usePolling } from "../../parts/load.tsx";
import { getClient } from "../../session.ts";

const POLL_MS = 2_000;

type Props = {
  readonly jobId: string;
  readonly email: string;
  readonly onResult: (row: ResultRow) => void;
};

export const Pending = ({ jobId, email, onResult }: Props) => {
  const load = useLoad(
    async (signal) => {
      const job = await getClient().getJob({ id: jobId }, { signal });
      const number = job.results?.[0]?.row;
      if (number === undefined) return { job };
      return { job, row: await getClient().getJobRow({ id: jobId, row: `${number}` }, { signal }) };
    },
    [jobId],
  );
  const { error } = load;
  const { job: data, row } = load.data ?? {};
  const isOver = row !== undefined || data?.completed_at !== undefined;
  usePolling(load, isOver ? null : POLL_MS);
  useLayoutEffect(() => {
    if (row) onResult(row);
  }, [row]);
  const { deferred } = data ?? {};
  const [cause] = Object.keys(deferred?.by_reason ?? {});
  return (
    <section class="panel main" aria-labelledby="pending">
      <h2 id="pending">{email}</h2>
      <p role="status">
        <span class="status is-pending">pending</span>{" "}
        {data?.error ??
          (deferred
            ? `The mail server has not given a result yet (${cause}). The next attempt is at ${formatClock(deferred.next_attempt_at)}; this page shows its result automatically.`
            : "The mail server is slow to respond. The result will appear here.")}
      </p>
      <p class="soft">
        It continues as job{" "}
        <a href={toHref(`lists/${jobId}`)}>
          <code>{jobId}</code>
        </a>
        , even when this page is closed.
      </p>
      {error !== undefined && <ErrorPanel error={error} onRetry={load.reload} />}
    </section>
  );
};
