import type { Job } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatCount, formatNumber } from "../../format.ts";
import { Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { StackedBar } from "../../parts/stacked-bar.tsx";
import { getClient } from "../../session.ts";
import { isRunning, toProgressParts, toTitle } from "../lists/job.ts";
import { toWaitSentence } from "../lists/wait-sentence.ts";
import { Part } from "./part.tsx";

const LISTED = 10;
const POLL_MS = 2_000;

const RunningList = ({ job }: { readonly job: Job }) => {
  const { progress } = job;
  const title = toTitle(job);
  const wait = toWaitSentence(job);
  return (
    <li>
      <h3>
        <a href={toHref(`lists/${job.job_id}`)}>{title}</a>
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

export const RunningLists = () => {
  const load = useLoad((signal) => getClient().listJobs({ limit: LISTED }, { signal }));
  usePolling(load, load.data?.jobs.some(isRunning) ? POLL_MS : null);
  return (
    <Part
      id="running"
      title="Running lists"
      error={load.error}
      action={<a href={toHref("lists/new")}>New list</a>}
    >
      <Loaded load={load} what="the running lists">
        {({ jobs }) => {
          const running = jobs.filter(isRunning);
          return running.length === 0 ? (
            <p class="soft">No list is running.</p>
          ) : (
            <ul class="plain">
              {running.map((job) => (
                <RunningList key={job.job_id} job={job} />
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Part>
  );
};
