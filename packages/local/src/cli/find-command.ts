import type { FindEmailData } from "@mailproof/client/types";
import * as v from "valibot";
import { defineCommand, Flag, UsageError } from "./define-command.ts";
import { requireService, SERVICE, SERVICE_USAGE, watchInterrupt } from "./service.ts";
import { replaceControls } from "./terminal.ts";

const USAGE = "FIRST_NAME LAST_NAME DOMAIN [--json]";

/** A person's address, found by a service. Exit code 1: none was. */
export const findCommand = defineCommand({
  name: "find",
  usage: `${USAGE} ${SERVICE_USAGE}`,
  options: v.strictObject({ json: Flag, ...SERVICE }),
  flags: ["json"],
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
        `Pass a first name, a last name and a domain, such as Ada "King Noel" example.com. Usage: mailproof find ${USAGE}`,
      );
    const { client } = requireService(input);
    const { signal, end } = watchInterrupt();
    const result = await client
      .findEmail({ first_name, last_name, domain }, { signal })
      .finally(end);
    const isInteractive = process.stdout.isTTY && !input.options.json;
    process.stdout.write(`${isInteractive ? formatText(result) : JSON.stringify(result)}\n`);
    return result.email === null ? 1 : 0;
  },
});

const formatText = ({ email, confidence, status, message }: FindEmailData): string => {
  const what =
    email === null ? status : `${replaceControls(email)}  ${status}, confidence ${confidence}`;
  return `${what}\n${message}`;
};
