import type { GetJobRowData } from "@mailproof/client";
import { useLayoutEffect, useRef } from "preact/hooks";
import { toHref } from "../../base.ts";
import { formatTime } from "../../format.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { toReasonWords, toStatusWords } from "../../parts/words.ts";
import { navigate } from "../../router.ts";
import { getClient } from "../../session.ts";
import { Verdict } from "../verify/verdict.tsx";
import "../verify/verify.css";

type Props = {
  readonly job: string;
  readonly row: number;
  readonly onClose: () => void;
};

const OwnColumns = ({ columns = {} }: { readonly columns: Record<string, string> | undefined }) => {
  const cells = Object.entries(columns);
  if (cells.length === 0) return null;
  return (
    <section class="own-columns" aria-label="Your columns">
      <dl>
        {cells.map(([name, cell]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{cell}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
};

const History = ({ history = [] }: { readonly history: GetJobRowData["history"] | undefined }) => {
  if (history.length === 0) return null;
  return (
    <section class="row-history" aria-label="Earlier results">
      <h3>Earlier results</h3>
      <ul>
        {history.map(({ job_id, status, reason, quality_score, verified_at }) => (
          <li key={verified_at}>
            <a href={toHref(`lists/${job_id}`)}>{formatTime(verified_at)}</a>:{" "}
            {toStatusWords(status)}, {toReasonWords(reason)}, score {quality_score}
          </li>
        ))}
      </ul>
    </section>
  );
};

export const RowDrawer = ({ job, row, onClose }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const load = useLoad(
    (signal) => getClient().getJobRow({ id: job, row: String(row) }, { signal }),
    [job, row],
  );
  useLayoutEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="drawer"
      aria-label={`Row ${row}`}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="heading">
        <h2>Row {row}</h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <Loaded load={load} what="the row and its evidence">
        {(result) => (
          <>
            <OwnColumns columns={result.columns} />
            {result.elsewhere && (
              <p>
                {result.elsewhere.vendor} says <b>{result.elsewhere.verdict}</b>, which is{" "}
                {toStatusWords(result.elsewhere.status)} here.
              </p>
            )}
            <Verdict
              result={result}
              onVerify={(email) => navigate("verify", { state: { email } })}
            />
            <History history={result.history} />
            {!result.evidence && (
              <p class="soft">
                The evidence of this row is gone. It is stored for 7 days after verification.
              </p>
            )}
          </>
        )}
      </Loaded>
    </dialog>
  );
};
