import type { Job, ListJobsData, ListJobsInput } from "@mailproof/client";
import { formatTime } from "../../format.ts";
import type { BarPart } from "../../parts/stacked-bar.tsx";
import { getClient } from "../../session.ts";

const EMPTY_PAGES_MAX = 10;

/** The API looks through 2,000 jobs for a page, which may all be visitors of a form: an empty page is not the last. */
export const readLists = async (
  query: ListJobsInput,
  signal: AbortSignal,
): Promise<ListJobsData> => {
  let page = await getClient().listJobs({ kind: "list", ...query }, { signal });
  for (let more = 0; more < EMPTY_PAGES_MAX && page.jobs.length === 0 && page.next_offset; more++)
    page = await getClient().listJobs(
      { kind: "list", ...query, offset: page.next_offset },
      { signal },
    );
  return page;
};

export const isRunning = ({ status }: Pick<Job, "status">): boolean =>
  status === "pending" || status === "processing" || status === "enqueue_unknown";

export const toTitle = ({
  name,
  kind,
  created_at,
}: Pick<Job, "name" | "kind" | "created_at">): string =>
  name ?? `${kind === "single" ? "One address" : "List"} of ${formatTime(created_at)}`;

/** The groups of statuses that the API counts while a list runs. A group of several statuses is not named after one of them. */
const STATUS_GROUPS = {
  valid: "Valid",
  risky: "Risky, catch-all, role and spam traps",
  invalid: "Invalid and disposable",
  unknown: "Unknown",
} as const;

type StatusGroup = keyof typeof STATUS_GROUPS;

export const toProgressParts = (progress: Job["progress"]): readonly BarPart[] =>
  Object.entries(STATUS_GROUPS).map(([group, name]) => ({
    name,
    value: progress[group as StatusGroup],
    tone: `is-${group}`,
  }));

const STATES: Readonly<Record<Job["status"], string>> = {
  pending: "queued",
  processing: "running",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  enqueue_unknown: "being queued",
};

export const toState = ({ status }: Pick<Job, "status">): string => STATES[status];
