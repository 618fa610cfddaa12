import { PROGRAM } from "../installation.ts";
import { defineCommand, UsageError } from "./define-command.ts";
import { printQuote } from "./dry-run.ts";
import { verifyFileByService } from "./file-command.ts";
import { STANDARD_INPUT } from "./list-file.ts";
import { assertWritable } from "./output.ts";
import { chooseFormat } from "./print-results.ts";
import { NO_LIST } from "./result-table.ts";
import { findService, type Service } from "./service.ts";
import { verifyAddressesByService } from "./verify-by-service.ts";
import { type VerifyInput, VerifyOptions } from "./verify-options.ts";

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
    if (file === undefined && options.column !== undefined)
      throw new UsageError("--column is for a list: add --file LIST, or leave it out.");
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
