import type { Job } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatCount, formatNumber, formatTime } from "../../format.ts";
import { Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { Empty } from "../../parts/shape.tsx";
import { StackedBar } from "../../parts/stacked-bar.tsx";
import { navigate, query } from "../../router.ts";
import { getClient } from "../../session.ts";
import { isRunning, toProgressParts, toState, toTitle } from "./job.ts";
import { toWaitSentence } from "./wait-sentence.ts";
import "./lists.css";

const LISTED = 20;
const POLL_MS = 2_000;

const STATES = ["processing", "completed", "failed", "cancelled"] as const;
type State = (typeof STATES)[number];

const readState = (): State | undefined =>
  STATES.find((state) => state === query.value.get("status"));

const ListEntry = ({ job }: { readonly job: Job }) => {
  const { job_id, progress, created_at } = job;
  const title = toTitle(job);
  const wait = toWaitSentence(job);
  return (
    <li class="panel list-entry">
      <h2>
        <a href={toHref(`lists/${job_id}`)}>{title}</a>
      </h2>
      <p class="soft">
        <span class={`job-state is-${job.status}`}>{toState(job)}</span>,{" "}
        {formatNumber(progress.processed)} of {formatCount(progress.total, "address", "addresses")},{" "}
        {formatTime(created_at)}
      </p>
      <StackedBar
        parts={toProgressParts(progress)}
        total={progress.total}
        label={`Results of ${title}`}
      />
      {wait && <p class="wait">{wait}</p>}
      {job.error && <p class="wait bad">{job.error}</p>}
    </li>
  );
};

const StateChoice = ({ chosen }: { readonly chosen: State | undefined }) => (
  <p class="state-choice">
    <label for="state">Show</label>
    <select
      id="state"
      value={chosen ?? ""}
      onChange={({ currentTarget: { value } }) =>
        navigate(value === "" ? "lists" : `lists?status=${value}`, { replace: true })
      }
    >
      <option value="">all lists</option>
      {STATES.map((state) => (
        <option key={state} value={state}>
          {toState({ status: state })}
        </option>
      ))}
    </select>
  </p>
);

const NoList = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <p class="soft">
      No lists are in this state. <a href={toHref("lists")}>Show all lists</a>
    </p>
  ) : (
    <Empty
      shape="rows"
      action={
        <a class="button primary" href={toHref("lists/new")}>
          Verify a list
        </a>
      }
    >
      You have no lists yet.
    </Empty>
  );

/** Every list, newest first. While a list runs, the screen reads all every two seconds. */
export const Lists = () => {
  const status = readState();
  const offset = query.value.get("offset") ?? undefined;
  const load = useLoad(
    (signal) =>
      getClient().listJobs(
        { limit: LISTED, ...(status && { status }), ...(offset && { offset }) },
        { signal },
      ),
    [status, offset],
  );
  usePolling(load, load.data?.jobs.some(isRunning) ? POLL_MS : null);
  return (
    <Screen
      title="Lists"
      actions={
        <a class="button primary" href={toHref("lists/new")}>
          New list
        </a>
      }
    >
      <StateChoice chosen={status} />
      <Loaded load={load} what="the lists" as="rows">
        {({ jobs, next_offset }) => (
          <>
            {jobs.length === 0 && <NoList isFiltered={status !== undefined} />}
            <ul class="plain lists">
              {jobs.map((job) => (
                <ListEntry key={job.job_id} job={job} />
              ))}
            </ul>
            <nav class="pages" aria-label="Pages of lists">
              {offset && (
                <a href={toHref(status ? `lists?status=${status}` : "lists")}>Newest lists</a>
              )}
              {next_offset && (
                <a
                  href={toHref(
                    `lists?${new URLSearchParams({ ...(status && { status }), offset: next_offset })}`,
                  )}
                >
                  Older lists
                </a>
              )}
            </nav>
          </>
        )}
      </Loaded>
    </Screen>
  );
};
