import { finished } from "node:stream/promises";
import type { VerificationResult as ApiResult } from "@mailproof/api/schema/verification";
import { MailproofError } from "@mailproof/client/errors";
import type { VerificationResult } from "@mailproof/client/types";
import { type Status } from "@mailproof/core/verify/result";
import { PROGRAM } from "../installation.ts";
import { defineCommand, UsageError } from "./define-command.ts";
import { printQuote } from "./dry-run.ts";
import { verifyFileByService } from "./file-command.ts";
import { explainContinuation, formatFollowCommand, waitForJob } from "./follow-job.ts";
import { STANDARD_INPUT } from "./list-file.ts";
import { writeNote } from "./notes.ts";
import { assertWritable, openOutput, writeOutput } from "./output.ts";
import { chooseFormat } from "./print-results.ts";
import { createResultSummary } from "./result-summary.ts";
import { type ListResult, NO_LIST } from "./result-table.ts";
import { findService, type Service, watchInterrupt } from "./service.ts";
import { countResults, type ResultFormat } from "./show-results.ts";
import { replaceControls } from "./terminal.ts";
import { type VerifyInput, VerifyOptions } from "./verify-options.ts";

type VerifyAddressesOptions = {
  readonly out: string | undefined;
  readonly force: boolean;
  readonly evidence: boolean;
  readonly failOn: readonly Status[] | undefined;
};

const verifyAddressesByService = async (
  service: Service,
  emails: readonly string[],
  format: ResultFormat,
  { out: file, force, evidence, failOn }: VerifyAddressesOptions,
): Promise<number> => {
  const out = await openOutput(file, force);
  const { signal, end } = watchInterrupt();
  const summary = createResultSummary();
  async function* verifyEach(): AsyncGenerator<ListResult> {
    for (const email of emails) {
      const result = await verifyAddress(service, email, evidence, signal);
      // The client does not type the evidence: another version of the service may have other fields.
      yield { result: result as ApiResult, cells: [] };
    }
  }
  try {
    for await (const piece of format(countResults(verifyEach(), summary)))
      await writeOutput(out, piece);
  } finally {
    end();
    if (out !== process.stdout) await finished(out.end());
  }
  return summary.getExitCode(failOn);
};

/** A slow verification becomes a job of one address, which is already paid for. */
const verifyAddress = async (
  { client, url }: Service,
  email: string,
  evidence: boolean,
  signal: AbortSignal,
): Promise<VerificationResult> => {
  const first = await client.verifyEmail(
    { email, options: { include_evidence: evidence } },
    { signal },
  );
  if (first.status !== "pending") return first;
  const id = first.job_id;
  writeNote(`${id}: ${replaceControls(email)} takes longer. Waiting for its result.\n`);
  const how = formatFollowCommand(url, id, { out: undefined, kind: "json", force: false });
  const { status, error } = await waitForJob(client, id, signal).catch((cause: unknown) => {
    const message = explainContinuation(cause, id, how, signal);
    throw cause instanceof MailproofError
      ? new MailproofError(message, {
          code: cause.code,
          money: "kept",
          status: cause.status,
          cause,
        })
      : new Error(message, { cause });
  });
  for await (const row of client.results({ id }, { signal })) return row;
  throw new Error(`${id}: ${status}. ${error ?? ""}`);
};

const USAGE = "ADDRESS … | --file LIST | - [options]";

/** Verifies with the engine alone, without a server or state, or with a service when the person names one. */
export const verifyCommand = defineCommand({
  usage: USAGE,
  options: VerifyOptions,
  examples: [
    "verify ada@example.com bob@example.org",
    "verify --file list.csv --out results.csv",
    "verify --evidence ada@example.com",
    "verify - < list.txt",
    "verify --fail-on invalid,disposable ada@example.com",
  ],
  takesWords: true,
  async run(input) {
    const { options, words } = input;
    const isInput = words.length === 1 && words[0] === STANDARD_INPUT;
    const file = options.file ?? (isInput ? STANDARD_INPUT : undefined);
    const addresses = isInput ? [] : words;
    if (addresses.length > 0 === (file !== undefined))
      throw new UsageError(
        `Pass addresses or --file, one of the two. Usage: ${PROGRAM} verify ${USAGE}`,
      );
    for (const name of ["column", "sheet"] as const)
      if (file === undefined && options[name] !== undefined)
        throw new UsageError(`--${name} is for a list: add --file LIST, or leave it out.`);
    const service = findService(input);
    if (service) return verifyByService(service, input, file, addresses);
    // The following modules bring the engine and the lab, which a service does not need.
    const { verifyAddressesHere, verifyListHere } = await import("./verify-here.ts");
    return file === undefined ? verifyAddressesHere(input, addresses) : verifyListHere(input, file);
  },
});

const verifyByService = (
  service: Service,
  { options }: VerifyInput,
  file: string | undefined,
  addresses: readonly string[],
): Promise<number> => {
  const { out, force, evidence, json, "dry-run": dryRun, "fail-on": failOn } = options;
  if (file === undefined) {
    if (dryRun)
      return printQuote(
        service,
        "verify",
        { operations: addresses.length, addresses: addresses.length },
        json,
      );
    assertWritable(out, { force });
    return verifyAddressesByService(service, addresses, chooseFormat(options, NO_LIST), {
      out,
      force,
      evidence,
      failOn,
    });
  }
  if (evidence)
    throw new UsageError(
      "--evidence works for single addresses only when a service verifies. Leave it out, or add --local.",
    );
  return verifyFileByService(service, file, { ...options, dryRun, failOn });
};
