import type { Status } from "@mailproof/core/verify/result";
import { toSendAdvice } from "@mailproof/core/verify/send-advice";
import type { ResultSummary } from "./result-summary.ts";
import {
  type CsvList,
  formatCsvTable,
  formatSpreadsheetTable,
  type ListResult,
  type Pieces,
  toResultTable,
} from "./result-table.ts";
import { formatEvidence } from "./show-evidence.ts";
import { type Paint, replaceControls, type Style } from "./terminal.ts";

export type ResultFormat = (results: AsyncIterable<ListResult>) => Pieces;

export const formatJsonLines: ResultFormat = async function* (results) {
  for await (const { result } of results) yield formatJsonLine(result);
};

export const formatJsonLine = (result: { readonly status: string }): string =>
  `${JSON.stringify({ ...result, send: toSendAdvice(result.status) })}\n`;

export const createCsvFormat =
  (list: CsvList): ResultFormat =>
  (results) =>
    formatCsvTable(toResultTable(list, results));

export const createSpreadsheetFormat =
  (list: CsvList): ResultFormat =>
  (results) =>
    formatSpreadsheetTable(toResultTable(list, results));

export async function* countResults(
  results: AsyncIterable<ListResult>,
  summary: ResultSummary,
): AsyncGenerator<ListResult> {
  for await (const one of results) {
    summary.add(one.result);
    yield one;
  }
}

const STYLES: Readonly<Record<Status, Style>> = {
  valid: "green",
  catch_all: "yellow",
  role: "yellow",
  risky: "yellow",
  unknown: "yellow",
  disposable: "red",
  invalid: "red",
  spam_trap: "red",
};

export const createTextFormat = (paint: Paint): ResultFormat =>
  async function* (results) {
    for await (const { result } of results) yield formatTextLine(result, paint);
  };

const formatTextLine = (
  { email, status, quality_score, reason, sub_status, ai, evidence }: ListResult["result"],
  paint: Paint,
): string => {
  const verdict = paint(status.padEnd(10), STYLES[status]);
  const reasonText = sub_status === null ? reason : `${reason} (${sub_status})`;
  const meant = ai?.typo_suggestion ? `, meant ${ai.typo_suggestion}?` : "";
  const line = `${verdict} ${String(quality_score).padStart(3)}  ${replaceControls(email)}  ${reasonText}${replaceControls(meant)}\n`;
  return evidence === undefined ? line : `${line}${formatEvidence(evidence, paint)}`;
};
