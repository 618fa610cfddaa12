import type { FindEmailData } from "@mailproof/client/types";
import * as v from "valibot";
import { PROGRAM } from "../installation.ts";
import { defineCommand, describeOption, Flag, UsageError } from "./define-command.ts";
import { DRY_RUN, printQuote } from "./dry-run.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { QUIET, requireService, SERVICE, watchInterrupt } from "./service.ts";
import { replaceControls } from "./terminal.ts";

const USAGE = "FIRST_NAME LAST_NAME DOMAIN [options]";

export const findCommand = defineCommand({
  usage: USAGE,
  options: v.strictObject({
    json: describeOption(Flag, "prints the result with the API's fields, also on a terminal"),
    ...DRY_RUN,
    ...QUIET,
    ...SERVICE,
  }),
  examples: ["find Ada Lovelace example.com", 'find Ada "King Noel" example.com --json'],
  takesWords: true,
  async run(input) {
    const [first_name, last_name, domain, ...others] = input.words;
    if (
      first_name === undefined ||
      last_name === undefined ||
      domain === undefined ||
      others.length
    )
      throw new UsageError(
        `Pass a first name, a last name and a domain, such as Ada "King Noel" example.com. Usage: ${PROGRAM} find ${USAGE}`,
      );
    const service = requireService(input);
    const { json, "dry-run": dryRun } = input.options;
    if (dryRun) return printQuote(service, "find", { operations: 1 }, json);
    const { signal, end } = watchInterrupt();
    const result = await service.client
      .findEmail({ first_name, last_name, domain }, { signal })
      .finally(end);
    const isInteractive = process.stdout.isTTY && !json;
    process.stdout.write(`${isInteractive ? formatText(result) : JSON.stringify(result)}\n`);
    return (result.email === null ? EXIT_CODES.noResult : EXIT_CODES.done).code;
  },
});

const formatText = ({ email, confidence, status, message }: FindEmailData): string => {
  const what =
    email === null ? status : `${replaceControls(email)}  ${status}, confidence ${confidence}`;
  return `${what}\n${message}`;
};
