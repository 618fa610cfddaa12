import type { GetJobData, ResultRow } from "@mailproof/client";
import { useState } from "preact/hooks";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { type Params, query } from "../../router.ts";
import { getClient } from "../../session.ts";
import { isRunning, toState, toTitle } from "../lists/job.ts";
import { MoreActions } from "./actions.tsx";
import {
  AgainButton,
  ChildProgress,
  Corrections,
  Suspicions,
  useAgain,
  WhoWasRight,
} from "./again.tsx";
import { ColumnChoice, type ListRows, listColumns, listFirstColumns } from "./columns.tsx";
import { DownloadButton, useDownload } from "./download.tsx";
import { type Facets, NO_FACETS, toFacets } from "./facets.ts";
import { toggleSort, toRequest } from "./filter.ts";
import "./list.css";
import { toHref } from "../../base.ts";
import { formatClock, formatCount, formatNumber, formatShare, formatTime } from "../../format.ts";
import { toWaitSentence } from "../lists/wait-sentence.ts";
import { Rail } from "./rail.tsx";
import { RowDrawer } from "./row-drawer.tsx";
import { RowTable } from "./row-table.tsx";
import { Toolbar } from "./toolbar.tsx";
import { type ChosenRows, openList, useChosenRows } from "./use-chosen-rows.ts";
import { PAGE_ROWS, toSkip } from "./window.ts";

const POLL_MS = 2_000;

/**
 * The counts of the whole list, which each response has, and the counts that each value would leave: a separate request, so that the rows
 * do not wait for them.
 */
const useFacets = (job: GetJobData | undefined, chosen: ChosenRows) => {
  const request = toRequest(chosen);
  const all = job?.summary && toFacets(job.summary, job);
  const isAsked = job !== undefined && (all === undefined || Object.keys(request).length > 0);
  const load = useLoad(
    async (signal) => {
      if (!job || !isAsked) return undefined;
      const counted = {
        id: job.job_id,
        include_results: false,
        facets: "true",
        ...request,
      } as const;
      return (await getClient().getJob(counted, { signal })).facets as Facets | undefined;
    },
    [job?.job_id, JSON.stringify(job?.summary), isAsked, JSON.stringify(request)],
  );
  const left = isAsked ? load.data : all;
  return { all: all ?? left ?? NO_FACETS, left: left ?? all ?? NO_FACETS, error: load.error };
};

const SkipToRows = () => (
  <a
    class="skip"
    href="#rows"
    onClick={(event) => {
      event.preventDefault();
      const find = (name: string) => document.querySelector<HTMLElement>(name);
      (find(".row-link") ?? find(".row-table"))?.focus();
    }}
  >
    Skip to the rows
  </a>
);

type Page = { readonly job: GetJobData; readonly from: number; readonly key: string };

type RowsProps = {
  readonly page: Page;
  readonly current: string;
  readonly chosen: ChosenRows;
  readonly facets: ReturnType<typeof useFacets>;
  readonly onMove: (first: number) => void;
};

const toEmptySentence = (job: GetJobData, isFiltered: boolean): string => {
  if (isFiltered) return "No rows match. Show all rows, or choose another filter.";
  return isRunning(job) ? "No results yet. They appear here by themselves." : "No results.";
};

const NO_ROWS: readonly ResultRow[] = [];

const Rows = ({ page: { job, from, key }, current, chosen, facets, onMove }: RowsProps) => {
  const { job_id: id, results = NO_ROWS, matching_rows: matching = 0 } = job;
  const [picked, setPicked] = useState<readonly string[]>();
  // The columns stay when a page has no rows.
  const [known, setKnown] = useState<ListRows>({});
  if (results.length > 0 && known.results !== results) setKnown(job);
  const columns = listColumns(known);
  const shown = picked ?? listFirstColumns(columns);
  const { terms, text, sort } = chosen;
  return (
    <div class="list-main">
      <Toolbar chosen={chosen} all={facets.all} left={facets.left} matching={matching}>
        <ColumnChoice columns={columns} shown={shown} onChange={setPicked} />
      </Toolbar>
      {facets.error !== undefined && <ErrorPanel error={facets.error} />}
      <RowTable
        name={toTitle(job)}
        columns={columns.filter(({ id: one }) => shown.includes(one))}
        total={matching}
        empty={toEmptySentence(job, terms.length > 0 || text !== "")}
        loaded={{ from, rows: key === current ? results : [] }}
        sort={sort}
        onSort={(column) => openList(id, { sort: toggleSort(sort, column) }, true)}
        onOpen={(row) => openList(id, { row: String(row) }, false)}
        onMove={onMove}
        selection={current}
      />
    </div>
  );
};

export const List = ({ params: { id = "" } }: { readonly params: Params }) => {
  const openRow = Number(query.value.get("row") ?? 0);
  const chosen = useChosenRows(id);
  const { terms, text, sort } = chosen;
  const [first, setFirst] = useState(0);
  const key = JSON.stringify([terms, text, sort]);
  // A page of large rows ends early: the next page then begins at the first visible row.
  const [isWide, setWide] = useState(false);
  const from = isWide ? first : toSkip({ first });
  const load = useLoad(
    async (signal): Promise<Page> => {
      const page = { id, sort, skip: from, limit: PAGE_ROWS, columns: "true" } as const;
      const job = await getClient().getJob({ ...page, ...toRequest(chosen) }, { signal });
      if (job.next_key !== undefined) setWide((job.results?.length ?? 0) < PAGE_ROWS);
      return { job, from, key };
    },
    [id, key, from],
  );
  const job = load.data?.job;
  const isChanging = job !== undefined && (isRunning(job) || job.child_job_id !== undefined);
  usePolling(load, isChanging ? POLL_MS : null);
  const facets = useFacets(job, chosen);
  const title = job ? toTitle(job) : "List";
  const download = useDownload({ id, ...toRequest(chosen) }, title);
  const isFiltered = terms.length > 0 || text !== "";
  const again = useAgain(id, load.reload);
  const actions = job && (
    <>
      <AgainButton job={job} chosen={toRequest(chosen)} again={again} />
      <DownloadButton download={download} count={job.matching_rows ?? 0} isFiltered={isFiltered} />
      <MoreActions job={job} onChange={load.reload} />
    </>
  );
  return (
    <div class="list-screen">
      <SkipToRows />
      <Screen title={title} actions={actions}>
        {download.error !== undefined && (
          <ErrorPanel error={download.error} onRetry={() => void download.run("csv")} />
        )}
        <Loaded load={load} what="the list" as="rows">
          {(page) => (
            <>
              <Progress job={page.job} facets={facets.all} />
              {again.error !== undefined && <ErrorPanel error={again.error} />}
              {page.job.child_job_id !== undefined && (
                <ChildProgress id={page.job.child_job_id} onEnded={load.reload} />
              )}
              <div class="list-body">
                <aside class="list-rail list-facets" aria-label="Filters">
                  <Suspicions job={page.job} />
                  <WhoWasRight job={page.job} />
                  <Corrections job={page.job} again={again} />
                  <Rail
                    all={facets.all}
                    left={facets.left}
                    terms={terms}
                    onToggle={chosen.toggle}
                  />
                </aside>
                <Rows page={page} current={key} chosen={chosen} facets={facets} onMove={setFirst} />
              </div>
            </>
          )}
        </Loaded>
      </Screen>
      {openRow > 0 && (
        <RowDrawer job={id} row={openRow} onClose={() => openList(id, { row: "" }, true)} />
      )}
    </div>
  );
};

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

const Progress = ({ job, facets }: Props) => {
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
