import type { VerificationResult } from "@mailproof/api/verification";
import { csvLine } from "@mailproof/core/jobs/csv-out";
import type { Status } from "@mailproof/core/verify/result";

/** One way to print results: what stands first, and a line for each. */
export type Show = {
  readonly first: string;
  readonly line: (result: VerificationResult, cells: readonly string[]) => string;
};

/** All fields, as the API has them: one JSON object on each line. */
export const asJson: Show = { first: "", line: (result) => `${JSON.stringify(result)}\n` };

type Column = readonly [name: string, of: (result: VerificationResult) => string | number | null];

/** What a row gains. The names are the API's, without its levels. */
const COLUMNS: readonly Column[] = [
  ["status", ({ status }) => status],
  ["quality_score", ({ quality_score }) => quality_score],
  ["reason", ({ reason }) => reason],
  ["sub_status", ({ sub_status }) => sub_status],
  ["provider", ({ provider }) => provider],
  ["mailbox_exists", ({ verification }) => String(verification.mailbox_exists)],
  ["catch_all", ({ verification }) => String(verification.catch_all)],
  ["disposable", ({ flags }) => String(flags.disposable)],
  ["role_account", ({ flags }) => String(flags.role_account)],
  ["free_provider", ({ flags }) => String(flags.free_provider)],
  ["typo_suggestion", ({ ai }) => ai?.typo_suggestion ?? null],
  ["verified_at", ({ verified_at }) => verified_at],
];

/** The list's own columns come back as they were, with ours behind them. */
export const asCsv = (columns: readonly string[]): Show => ({
  first: csvLine([...columns, ...COLUMNS.map(([name]) => name)]),
  line: (result, cells) =>
    csvLine([
      ...columns.map((_, place) => cells[place] ?? ""),
      ...COLUMNS.map(([, of]) => String(of(result) ?? "")),
    ]),
});

const GREEN = 32;
const YELLOW = 33;
const RED = 31;
const COLOUR: Readonly<Record<Status, number>> = {
  valid: GREEN,
  catch_all: YELLOW,
  role: YELLOW,
  risky: YELLOW,
  unknown: YELLOW,
  disposable: RED,
  invalid: RED,
  spam_trap: RED,
};

/** For eyes: the verdict first, in a colour, then why. */
export const asText: Show = {
  first: "",
  line: ({ email, status, quality_score, reason, sub_status, ai }) => {
    const verdict = `\u001b[${COLOUR[status]}m${status.padEnd(10)}\u001b[0m`;
    const why = sub_status === null ? reason : `${reason} (${sub_status})`;
    const meant = ai?.typo_suggestion ? `, meant ${ai.typo_suggestion}?` : "";
    return `${verdict} ${String(quality_score).padStart(3)}  ${shown(email)}  ${why}${shown(meant)}\n`;
  },
};

/** What stands in a list must not steer the terminal it is shown on. */
const shown = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�");
