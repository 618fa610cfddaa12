import type { FindEmailData } from "@mailproof/client/types";
import * as v from "valibot";
import { command, Flag, Misuse } from "./command.ts";
import { SERVICE, SERVICE_USAGE, serviceNeeded, untilInterrupted } from "./service.ts";
import { shown } from "./terminal.ts";

const USAGE = "FIRST_NAME LAST_NAME DOMAIN [--json]";

/** A person's address, found by a service. Exit code 1: none was. */
export const findCommand = command({
  name: "find",
  usage: `${USAGE} ${SERVICE_USAGE}`,
  options: v.strictObject({ json: Flag, ...SERVICE }),
  flags: ["json"],
  takesWords: true,
  async run(asked) {
    const [first_name, last_name, domain, ...others] = asked.words;
    if (
      first_name === undefined ||
      last_name === undefined ||
      domain === undefined ||
      others.length
    )
      throw new Misuse(
        `Pass a first name, a last name and a domain, such as Ada "King Noel" example.com. Usage: mailproof find ${USAGE}`,
      );
    const { client } = serviceNeeded(asked);
    const { signal, end } = untilInterrupted();
    const found = await client
      .findEmail({ first_name, last_name, domain }, { signal })
      .finally(end);
    const isForEyes = process.stdout.isTTY && !asked.options.json;
    process.stdout.write(`${isForEyes ? textOf(found) : JSON.stringify(found)}\n`);
    return found.email === null ? 1 : 0;
  },
});

const textOf = ({ email, confidence, status, message }: FindEmailData): string => {
  const what = email === null ? status : `${shown(email)}  ${status}, confidence ${confidence}`;
  return `${what}\n${message}`;
};
