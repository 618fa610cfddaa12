import type { Job } from "@mailproof/client";
import { formatTime } from "../../format.ts";
import type { BarPart } from "../../parts/stacked-bar.tsx";

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
