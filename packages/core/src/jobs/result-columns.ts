import type { Verification } from "../verify/result.ts";

type Column = readonly [name: string, of: (result: Verification) => string | number | null];

/** What a row of a list gains, in the command's file and in the export. The names are the API's, without its levels. */
const COLUMNS: readonly Column[] = [
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

/**
 * What the columns are called beside those of the list. Where it has such a name already, in whatever case, ours is
 * the one that changes: many readers keep the last of two.
 */
export const namesBeside = (columns: readonly string[]): readonly string[] => {
  const taken = new Set(columns.map(plain));
  return COLUMNS.map(([name]) => {
    let free = name;
    while (taken.has(free)) free = `mailproof_${free}`;
    taken.add(free);
    return free;
  });
};

const READERS = COLUMNS.map(([, of]) => of);

export const cellsOf = (result: Verification): readonly string[] =>
  READERS.map((of) => String(of(result) ?? ""));

const plain = (name: string): string => name.trim().toLowerCase();
