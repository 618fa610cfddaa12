import type { GetJobData } from "@mailproof/client";
import { useRef, useState } from "preact/hooks";
import { toHref } from "../../base.ts";
import { formatCount, formatNumber, formatTime } from "../../format.ts";
import { Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { type BarPart, StackedBar } from "../../parts/stacked-bar.tsx";
import { navigate, type Params, query } from "../../router.ts";
import { getClient } from "../../session.ts";
import { isRunning, toProgressParts, toState, toTitle } from "../lists/job.ts";
import { toWaitSentence } from "../lists/wait-sentence.ts";
import "../lists/lists.css";
import { ListActions } from "./actions.tsx";
import { type BarItem, FilterBars } from "./bars.tsx";
import { Downloads } from "./downloads.tsx";
import "./list.css";
import { RowDrawer } from "./row-drawer.tsx";
import { RowTable } from "./row-table.tsx";
import { readSort, readTerms, toggleSort, toggleTerm, toRequest } from "./selection.ts";
import { PAGE_ROWS, toSkip } from "./window.ts";

const POLL_MS = 2_000;
const TYPING_MS = 250;
const LISTED = 12;

type Summary = NonNullable<GetJobData["summary"]>;

const toItems = (counts: Readonly<Record<string, number>>, field: string): readonly BarItem[] =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .slice(0, LISTED)
    .map(([name, count]) => ({
      name,
      count,
      term: `${field}:${name}`,
      ...(field === "status" && { tone: `is-${name}` }),
    }));

const toStatusParts = ({ statuses }: Summary): readonly BarPart[] =>
  Object.entries(statuses).map(([name, value]) => ({ name, value, tone: `is-${name}` }));

/** Every range, so that the bars are a histogram; none before there is a result. */
const toScoreItems = ({ scores }: Summary): readonly BarItem[] =>
  scores.every(({ count }) => count === 0)
    ? []
    : scores.map(({ from, to, count }) => ({
        name: `${from}–${to}`,
        count,
        term: `score:${from}-${to}`,
      }));

/** The head of the screen: the list's progress, and which rows wait. */
const Progress = ({ job, title }: { readonly job: GetJobData; readonly title: string }) => {
  const { progress, summary, credits_refunded: refunded } = job;
  const wait = toWaitSentence(job);
  return (
    <section class="panel wide" aria-label="Progress">
      <p>
        <span class={`job-state is-${job.status}`}>{toState(job)}</span>:{" "}
        {formatNumber(progress.processed)} of{" "}
        {formatCount(progress.total, "address has a result", "addresses have a result")}
        {job.completed_at && `, ended ${formatTime(job.completed_at)}`}
        {refunded !== undefined && `, ${formatCount(refunded, "credit")} refunded`}.
      </p>
      <StackedBar
        parts={summary ? toStatusParts(summary) : toProgressParts(progress)}
        total={progress.total}
        label={`Results of ${title}`}
      />
      {wait && <p class="wait">{wait}</p>}
      {job.error && <p class="wait bad">{job.error}</p>}
    </section>
  );
};

type BarsProps = {
  readonly summary: Summary;
  readonly terms: readonly string[];
  readonly text: string;
  readonly onToggle: (term: string) => void;
  readonly onText: (text: string) => void;
};

const Bars = ({ summary, terms, text, onToggle, onText }: BarsProps) => {
  const total = Object.values(summary.statuses).reduce((sum, count) => sum + count, 0);
  const isChosen = (term: string) => terms.includes(term);
  const own = { total, isChosen, onToggle };
  return (
    <>
      <FilterBars title="Statuses" items={toItems(summary.statuses, "status")} {...own} />
      <FilterBars title="Reasons" items={toItems(summary.reasons, "reason")} {...own} />
      <FilterBars title="Scores" items={toScoreItems(summary)} {...own} />
      <FilterBars title="Providers" items={toItems(summary.providers, "provider")} {...own} />
      {summary.top_domains.length > 0 && (
        <FilterBars
          title="Top domains"
          items={summary.top_domains
            .slice(0, LISTED)
            .map(({ domain, count }) => ({ name: domain, count, term: `@${domain}` }))}
          total={total}
          isChosen={(term) => term === text}
          onToggle={(term) => onText(term === text ? "" : term)}
        />
      )}
    </>
  );
};

/** Opens the list with these changes of its query: an empty value removes its name. */
const openList = (
  id: string,
  changes: Readonly<Record<string, string>>,
  replace: boolean,
): void => {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes))
    if (value === "") next.delete(name);
    else next.set(name, value);
  navigate(`lists/${id}${next.size > 0 ? `?${next}` : ""}`, { replace });
};

/** Which rows are chosen, and in which order. */
const useSelection = (id: string) => {
  const terms = readTerms(query.value.get("filter"));
  const sort = readSort(query.value.get("sort"));
  const [typed, setTyped] = useState("");
  const [text, setText] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const search = (value: string): void => {
    clearTimeout(timer.current);
    setTyped(value);
    timer.current = setTimeout(() => setText(value.trim()), TYPING_MS);
  };
  const filter = (value: readonly string[]): void =>
    openList(id, { filter: value.join(",") }, true);
  return {
    terms,
    sort,
    typed,
    text,
    search,
    toggle: (term: string) => filter(toggleTerm(terms, term)),
    clear: () => {
      search("");
      filter([]);
    },
  };
};

type RowFiltersProps = { readonly selection: ReturnType<typeof useSelection> };

/** The active filters, each with a button that removes it. */
const RowFilters = ({
  selection: { terms, text, typed, search, toggle, clear },
}: RowFiltersProps) => (
  <div class="field-row">
    <p>
      <label for="search">Address contains</label>
      <input
        id="search"
        type="search"
        autocomplete="off"
        spellcheck={false}
        maxLength={254}
        value={typed}
        onInput={(event) => search(event.currentTarget.value)}
      />
    </p>
    {terms.map((term) => (
      <button type="button" key={term} onClick={() => toggle(term)}>
        {term} <span aria-hidden="true">×</span>
        <span class="unseen">, remove this filter</span>
      </button>
    ))}
    {(terms.length > 0 || text !== "") && (
      <button type="button" class="quiet" onClick={clear}>
        Show all rows
      </button>
    )}
  </div>
);

/** A bar may be far above the table that it filters, so this stays in view until the table is. */
const Matching = ({ rows }: { readonly rows: number }) => (
  <p class="matching">
    {formatCount(rows, "row matches", "rows match")}{" "}
    <button
      type="button"
      class="quiet"
      onClick={() => document.getElementById("rows")?.scrollIntoView()}
    >
      See the rows
    </button>
  </p>
);

export const List = ({ params: { id = "" } }: { readonly params: Params }) => {
  const openRow = Number(query.value.get("row") ?? 0);
  const selection = useSelection(id);
  const { terms, text, sort } = selection;
  const isFiltered = terms.length > 0 || text !== "";
  const [first, setFirst] = useState(0);
  const key = JSON.stringify([terms, text, sort]);
  const from = toSkip({ first });
  const load = useLoad(
    async (signal) => {
      const request = { id, skip: from, limit: PAGE_ROWS, ...toRequest({ terms, text, sort }) };
      return { job: await getClient().getJob(request, { signal }), from, key };
    },
    [id, key, from],
  );
  const job = load.data?.job;
  usePolling(load, job && isRunning(job) ? POLL_MS : null);
  const title = job ? toTitle(job) : "List";
  return (
    <Screen title={title} actions={job && <ListActions job={job} onChange={load.reload} />}>
      <p>
        <a href={toHref("lists")}>All lists</a>
      </p>
      <Loaded load={load} what="the list">
        {(loaded) => (
          <>
            <Panels job={loaded.job} selection={selection} />
            {isFiltered && <Matching rows={loaded.job.matching_rows ?? 0} />}
            <section class="list-rows" aria-labelledby="rows">
              <h2 id="rows">Rows</h2>
              <RowFilters selection={selection} />
              <RowTable
                name={title}
                total={loaded.job.matching_rows ?? 0}
                empty={
                  isFiltered
                    ? "No rows match. Show all rows, or choose another bar."
                    : "No results yet."
                }
                loaded={{
                  from: loaded.from,
                  rows: loaded.key === key ? (loaded.job.results ?? []) : [],
                }}
                sort={sort}
                onSort={(column) => openList(id, { sort: toggleSort(sort, column) }, true)}
                onOpen={(row) => openList(id, { row: String(row) }, false)}
                onMove={setFirst}
                selection={key}
              />
            </section>
          </>
        )}
      </Loaded>
      {openRow > 0 && (
        <RowDrawer job={id} row={openRow} onClose={() => openList(id, { row: "" }, true)} />
      )}
    </Screen>
  );
};

type PanelsProps = RowFiltersProps & { readonly job: GetJobData };

const Panels = ({ job, selection: { terms, text, search, toggle } }: PanelsProps) => {
  const title = toTitle(job);
  return (
    <div class="panels list-panels">
      <Progress job={job} title={title} />
      <Downloads
        job={job.job_id}
        title={title}
        isRunning={isRunning(job)}
        verified={job.progress.processed}
      />
      {job.summary && (
        <Bars summary={job.summary} terms={terms} text={text} onToggle={toggle} onText={search} />
      )}
    </div>
  );
};
