import { readMessage } from "@mailproof/mail/message/read-message";
import { type Budget, createBudget } from "../lib/budget.ts";
import { readMailedReports } from "./reports/find-mailed-reports.ts";
import { ReportFault } from "./reports/report-fault.ts";
import { readUploadedReport } from "./reports/uploaded-report.ts";

/** Readers of formats that anyone may send. Arguments and results are plain data, so that a thread can run them. */
const READERS = { readMessage, readMailedReports, readUploadedReport };

type Readers = typeof READERS;
export type ReaderName = keyof Readers;

/** `who`: the account that pays the cost of reading. Throws a ReportFault when the reading fails or costs too much. */
export type RunReader = <Name extends ReaderName>(
  who: string,
  name: Name,
  ...args: Parameters<Readers[Name]>
) => Promise<Awaited<ReturnType<Readers[Name]>>>;

/** Reads in this thread: a Lambda has one request at a time and its own time limit. */
export const readHere = (async (_who: string, name: ReaderName, ...args: readonly never[]) =>
  (READERS[name] as (...all: readonly never[]) => unknown)(...args)) as RunReader;

const INPUTS: Readonly<Record<ReaderName, string>> = {
  readMessage: "mail",
  readMailedReports: "mail",
  readUploadedReport: "file",
};

export const createTooCostlyFault = (name: ReaderName): ReportFault =>
  new ReportFault(INPUTS[name], "takes more time or memory to read than any report or mail needs");

export type Reading = {
  readonly run: RunReader;
  /** Limits the bytes unpacked from mail: anyone who knows an address may send a mail of 20 KB that unpacks to 20 MB. */
  readonly unpacked: Budget;
};

export type WithReading = { readonly reading: Reading };

/** A mail of the largest size needs less than one share. */
const UNPACKED_PER_MINUTE = { inAll: 250_000_000, perShare: 25_000_000, refillMs: 60_000 };

export const createReading = (now: () => Date, run: RunReader = readHere): Reading => ({
  run,
  unpacked: createBudget(UNPACKED_PER_MINUTE, now),
});
