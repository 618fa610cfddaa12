import type { GetJobData, Job } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatCount, formatNumber, formatShare, formatTime } from "../../format.ts";
import { useAction } from "../../parts/action.ts";
import { saveStream } from "../../parts/csv-button.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { StackedBar } from "../../parts/stacked-bar.tsx";
import { getClient, may } from "../../session.ts";
import { toFacets } from "../list/facets.ts";
import { readLists, toProgressParts, toTitle } from "../lists/job.ts";
import { toWaitSentence } from "../lists/wait-sentence.ts";
import { Part } from "./part.tsx";

const LISTED = 10;
const POLL_MS = 2_000;

const RUNNING = ["processing", "pending", "enqueue_unknown"] as const;

/** The API filters by one state at a time. */
const readRunning = async (signal: AbortSignal): Promise<readonly Job[]> => {
  const pages = await Promise.all(
    RUNNING.map((status) => readLists({ status, limit: LISTED }, signal)),
  );
  return pages.flatMap(({ jobs }) => jobs);
};

const readLast = async (signal: AbortSignal): Promise<GetJobData | null> => {
  const [last] = (await readLists({ status: "completed", limit: 1 }, signal)).jobs;
  if (!last) return null;
  return getClient().getJob({ id: last.job_id, include_results: false }, { signal });
};

const toListHref = (id: string, filter = ""): string =>
  toHref(`lists/${id}${filter && `?filter=${filter}`}`);

const RunningList = ({ job }: { readonly job: Job }) => {
  const { progress } = job;
  const title = toTitle(job);
  const wait = toWaitSentence(job);
  return (
    <li>
      <h3>
        <a href={toListHref(job.job_id)}>{title}</a>
      </h3>
      <p class="soft">
        {formatNumber(progress.processed)} of {formatCount(progress.total, "address", "addresses")}
        {wait && `. ${wait}`}
      </p>
      <StackedBar
        parts={toProgressParts(progress)}
        total={progress.total}
        label={`Results of ${title}`}
      />
    </li>
  );
};

const ADVICES = [
  { advice: "yes", title: "Send", tone: "is-valid" },
  { advice: "careful", title: "Careful", tone: "is-risky" },
  { advice: "no", title: "Do not send", tone: "is-invalid" },
] as const;

type Advice = (typeof ADVICES)[number]["advice"];

const STEPS: Readonly<Record<Advice, string>> = {
  yes: "Send your mail to the addresses that are safe",
  careful: "Decide about the addresses that need care",
  no: "Take these addresses out of your newsletter",
};

/** The steps after a list has ended, each with its rows. */
const NextSteps = ({ job, send }: { readonly job: GetJobData; readonly send: Sums }) => {
  const id = job.job_id;
  const download = useAction((filter: string) => saveStream({ id, filter }, toTitle(job)));
  return (
    <>
      {download.error !== undefined && <ErrorPanel error={download.error} />}
      <ol class="steps" aria-label="Next steps">
        {ADVICES.filter(({ advice }) => send[advice] > 0).map(({ advice, tone }) => (
          <li key={advice}>
            <span class={`mark ${tone}`} aria-hidden="true" />
            <span>{STEPS[advice]}</span>
            {advice === "careful" ? (
              <a class="button" href={toListHref(id, "send:careful")}>
                Look at {formatNumber(send.careful)}
              </a>
            ) : (
              <button
                type="button"
                class={advice === "yes" ? "primary" : undefined}
                aria-disabled={download.isRunning}
                onClick={() => void download.run(`send:${advice}`)}
              >
                Download {formatNumber(send[advice])}
              </button>
            )}
          </li>
        ))}
      </ol>
    </>
  );
};

type Sums = Readonly<Record<Advice, number>>;

const LastList = ({ job }: { readonly job: GetJobData }) => {
  const { total } = job.progress;
  const sums = job.summary ? toFacets(job.summary, job).send : {};
  const send = { yes: sums["yes"] ?? 0, careful: sums["careful"] ?? 0, no: sums["no"] ?? 0 };
  return (
    <>
      <div class="heading">
        <h3>
          <a href={toListHref(job.job_id)}>{toTitle(job)}</a>
        </h3>
        {job.completed_at && <small>finished {formatTime(job.completed_at)}</small>}
      </div>
      <p class="say">
        {formatNumber(send.yes)} of {formatCount(total, "address is", "addresses are")} ready for
        your next mail.
      </p>
      <StackedBar
        parts={ADVICES.map(({ advice, title, tone }) => ({
          name: title,
          value: send[advice],
          tone,
        }))}
        total={total}
        label={`${formatShare(total === 0 ? 0 : send.yes / total)} of ${toTitle(job)} are safe`}
      />
      <NextSteps job={job} send={send} />
    </>
  );
};

/** The lists that run, and the last one that ended with its next steps. */
export const ListsPanel = () => {
  const running = useLoad(readRunning);
  const ids = running.data?.map(({ job_id }) => job_id).join();
  usePolling(running, ids ? POLL_MS : null);
  const last = useLoad(readLast, [ids]);
  return (
    <>
      {(running.data === undefined || running.data.length > 0) && (
        <Part id="running" title="Running lists" error={running.error}>
          <Loaded load={running} what="the running lists">
            {(jobs) => (
              <ul class="plain">
                {jobs.map((job) => (
                  <RunningList key={job.job_id} job={job} />
                ))}
              </ul>
            )}
          </Loaded>
        </Part>
      )}
      <Part
        id="last"
        title="Last list"
        error={last.error}
        action={<a href={toHref("lists")}>All lists</a>}
      >
        <Loaded load={last} what="the last list" as="figure">
          {(job) =>
            job ? (
              <LastList job={job} />
            ) : (
              <p class="soft">
                No list has ended yet.{" "}
                {may("verification:write") && <a href={toHref("lists/new")}>Verify a list</a>}
              </p>
            )
          }
        </Loaded>
      </Part>
    </>
  );
};
