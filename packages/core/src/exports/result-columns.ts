import type { Verification } from "../verify/result.ts";

type ResultColumn = readonly [name: string, of: (result: Verification) => string | number | null];

/** What a row of a list gains, in the command's file and in the export. The names are the API's, without its levels. */
const RESULT_COLUMNS: readonly ResultColumn[] = [
  // The address that was verified. The list's own cell may hold a name beside it, or be spelt otherwise.
  ["email", ({ email }) => email],
  ["status", ({ status }) => status],
  ["quality_score", ({ score }) => score],
  ["reason", ({ reason }) => reason],
  ["sub_status", ({ subStatus }) => subStatus],
  ["provider", ({ provider }) => provider],
  ["mailbox_exists", ({ verification }) => String(verification.mailboxExists)],
  ["catch_all", ({ verification }) => String(verification.catchAll)],
  ["disposable", ({ flags }) => String(flags.disposable)],
  ["role_account", ({ flags }) => String(flags.roleAccount)],
  ["free_provider", ({ flags }) => String(flags.freeProvider)],
  ["typo_suggestion", ({ ai }) => ai?.typoSuggestion ?? null],
  ["verified_at", ({ verifiedAt }) => verifiedAt],
];

const COLUMN_NAMES = RESULT_COLUMNS.map(([name]) => name);

/**
 * What the columns are called beside those of the list. Where it has such a name already, in whatever case, ours is
 * the one that changes: many readers keep the last of two.
 */
export const listResultColumns = (
  columns: readonly string[],
  before: readonly string[] = [],
): readonly string[] => {
  const used = new Set(columns.map(normalise));
  return [...before, ...COLUMN_NAMES].map((name) => {
    let candidate = name;
    while (used.has(candidate)) candidate = `mailproof_${candidate}`;
    used.add(candidate);
    return candidate;
  });
};

const COLUMN_READERS = RESULT_COLUMNS.map(([, of]) => of);

export const toResultCells = (result: Verification): readonly string[] =>
  COLUMN_READERS.map((of) => String(of(result) ?? ""));

/** As many as `toResultCells` has, for a row without a result. */
export const BLANK_CELLS: readonly string[] = COLUMN_NAMES.map(() => "");

const normalise = (name: string): string => name.trim().toLowerCase();
