import type { Status } from "@mailproof/core/verify/result";
import { type SendAdvice, toSendAdvice } from "@mailproof/core/verify/send-advice";
import { EXIT_CODES } from "./exit-codes.ts";
import { formatCount } from "./progress.ts";
import { replaceControls } from "./terminal.ts";

type Row = { readonly email: string; readonly status: string; readonly reason: string };

export type ResultSummary = {
  readonly add: (row: Row) => void;
  /** The exit code of `--fail-on`: 1 if a result has one of the statuses. */
  readonly getExitCode: (failOn: readonly Status[] | undefined) => number;
  readonly format: () => string;
};

const SHOWN = 5;
/** Counting millions of domains must not need the memory of a whole list; further domains are in no line. */
const COUNTED_MAX = 100_000;

export const createResultSummary = (): ResultSummary => {
  const statuses = new Set<string>();
  const sends = new Map<string, number>();
  const reasons = new Map<string, number>();
  const domains = new Map<string, number>();
  return {
    add: ({ email, status, reason }) => {
      // A row without a verdict belongs to a job that ended early.
      if (status === "") return;
      statuses.add(status);
      count(sends, toSendAdvice(status));
      count(reasons, reason);
      const at = email.lastIndexOf("@");
      if (at >= 0) count(domains, email.slice(at + 1).toLowerCase());
    },
    getExitCode: (failOn = []) =>
      (failOn.some((status) => statuses.has(status)) ? EXIT_CODES.noResult : EXIT_CODES.done).code,
    format: () => {
      if (sends.size === 0) return "";
      const send = (["yes", "careful", "no"] satisfies SendAdvice[]).map(
        (advice) => `${formatCount(sends.get(advice) ?? 0)} ${advice}`,
      );
      return `Send: ${send.join(", ")}.\n${formatMost("Reasons", reasons)}${formatMost("Domains", domains)}`;
    },
  };
};

const count = (counts: Map<string, number>, key: string): void => {
  const before = counts.get(key);
  if (before === undefined && counts.size >= COUNTED_MAX) return;
  counts.set(key, (before ?? 0) + 1);
};

const formatMost = (label: string, counts: ReadonlyMap<string, number>): string => {
  const most = [...counts].toSorted(([, a], [, b]) => b - a);
  if (most.length === 0) return "";
  const shown = most
    .slice(0, SHOWN)
    .map(([name, rows]) => `${formatCount(rows)} ${replaceControls(name)}`);
  const more = most.length - shown.length;
  return `${label}: ${shown.join(", ")}${more > 0 ? `, and ${formatCount(more)} more` : ""}.\n`;
};
