import type { Job } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatCount, formatNumber, formatTime } from "../../format.ts";
import { Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { Empty } from "../../parts/shape.tsx";
import { StackedBar } from "../../parts/stacked-bar.tsx";
import { navigate, query } from "../../router.ts";
import { may } from "../../session.ts";
import { isRunning, readLists, toProgressParts, toState, toTitle } from "./job.ts";
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

type ChoiceProps = { readonly chosen: State | undefined; readonly kind: Kind };

const StateChoice = ({ chosen, kind }: ChoiceProps) => (
  <p class="state-choice">
    <label for="state">Show</label>
    <select
      id="state"
      value={chosen ?? ""}
      onChange={({ currentTarget: { value } }) =>
        navigate(toPath({ kind, status: STATES.find((state) => state === value) }), {
          replace: true,
        })
      }
    >
      <option value="">all</option>
      {STATES.map((state) => (
        <option key={state} value={state}>
          {toState({ status: state })}
        </option>
      ))}
    </select>
  </p>
);

type NoListProps = { readonly isFiltered: boolean; readonly kind: Kind };

const NoList = ({ isFiltered, kind }: NoListProps) => {
  if (isFiltered)
    return (
      <p class="soft">
        None of them is in this state. <a href={toHref(toPath({ kind }))}>Show all</a>
      </p>
    );
  if (kind === "single")
    return (
      <p class="soft">
        A verification is listed here when it takes longer than its request, or when a visitor of a
        form asked for it.
      </p>
    );
  return (
    <Empty
      shape="rows"
      action={
        may("verification:write") && (
          <a class="button primary" href={toHref("lists/new")}>
            Verify a list
          </a>
        )
      }
    >
      You have no lists yet.
    </Empty>
  );
};

const KINDS = { list: "Lists", single: "Single addresses" } as const;
type Kind = keyof typeof KINDS;

const readKind = (): Kind => (query.value.get("kind") === "single" ? "single" : "list");

type Place = { readonly kind: Kind; readonly status?: State | undefined; readonly offset?: string };

const toPath = ({ kind, status, offset }: Place): string => {
  const fields = {
    ...(kind === "single" && { kind }),
    ...(status && { status }),
    ...(offset && { offset }),
  };
  const text = new URLSearchParams(fields).toString();
  return text === "" ? "lists" : `lists?${text}`;
};

const KindTabs = ({ chosen }: { readonly chosen: Kind }) => (
  <nav class="screen-tabs" aria-label="Kinds of verifications">
    {Object.entries(KINDS).map(([kind, title]) => (
      <a
        key={kind}
        href={toHref(toPath({ kind: kind as Kind }))}
        aria-current={kind === chosen ? "page" : undefined}
      >
        {title}
      </a>
    ))}
  </nav>
);

/** Every list, newest first. While a list runs, the screen reads all every two seconds. */
export const Lists = () => {
  const status = readState();
  const kind = readKind();
  const offset = query.value.get("offset") ?? undefined;
  const load = useLoad(
    (signal) =>
      readLists(
        { kind, limit: LISTED, ...(status && { status }), ...(offset && { offset }) },
        signal,
      ),
    [kind, status, offset],
  );
  usePolling(load, load.data?.jobs.some(isRunning) ? POLL_MS : null);
  return (
    <Screen
      title="Lists"
      tabs={<KindTabs chosen={kind} />}
      actions={
        may("verification:write") && (
          <a class="button primary" href={toHref("lists/new")}>
            New list
          </a>
        )
      }
    >
      <StateChoice chosen={status} kind={kind} />
      <Loaded load={load} what="the lists" as="rows">
        {({ jobs, next_offset }) => (
          <>
            {jobs.length === 0 && <NoList isFiltered={status !== undefined} kind={kind} />}
            <ul class="plain lists">
              {jobs.map((job) => (
                <ListEntry key={job.job_id} job={job} />
              ))}
            </ul>
            <nav class="pages" aria-label="Pages of lists">
              {offset && <a href={toHref(toPath({ kind, status }))}>Newest</a>}
              {next_offset && (
                <a href={toHref(toPath({ kind, status, offset: next_offset }))}>Older</a>
              )}
            </nav>
          </>
        )}
      </Loaded>
    </Screen>
  );
};
