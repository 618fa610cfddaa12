import { setTimeout } from "node:timers/promises";
import type { GetMailTestData } from "@mailproof/client/types";
import * as v from "valibot";
import { PROGRAM } from "../installation.ts";
import { defineCommand, describeOption, Flag, UsageError } from "./define-command.ts";
import { DRY_RUN, printQuote } from "./dry-run.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { writeNote } from "./notes.ts";
import { QUIET, requireService, SERVICE, watchInterrupt } from "./service.ts";
import { replaceControls } from "./terminal.ts";

const USAGE = "[TEST_ID] [options]";
const POLL_MS = 2_000;

/** Lets a service assess one mail: prints an address, waits for the mail, and prints the report. */
export const mailTestCommand = defineCommand({
  usage: USAGE,
  options: v.strictObject({
    json: describeOption(Flag, "prints the test with the API's fields, also on a terminal"),
    "no-wait": describeOption(Flag, "does not wait for the mail"),
    ...DRY_RUN,
    ...QUIET,
    ...SERVICE,
  }),
  examples: ["mail-test", "mail-test --no-wait --json", "mail-test mlt_ID"],
  takesWords: true,
  async run(input) {
    const [id, ...others] = input.words;
    if (others.length > 0)
      throw new UsageError(`One test at a time. Usage: ${PROGRAM} mail-test ${USAGE}`);
    const service = requireService(input);
    const { json, "dry-run": dryRun, "no-wait": noWait } = input.options;
    if (dryRun) return printQuote(service, "mailTest", { operations: 1 }, json);
    const { client } = service;
    const { signal, end } = watchInterrupt();
    const wait = async (): Promise<GetMailTestData> => {
      let test: GetMailTestData = id
        ? await client.getMailTest({ id }, { signal })
        : await client.createMailTest({ signal });
      const { test_id } = test;
      if (!id)
        writeNote(
          `Send one mail to ${test.address} within the hour. Read the result later: ${PROGRAM} mail-test ${test_id}\n`,
        );
      while (!noWait && isOpen(test)) {
        await setTimeout(POLL_MS, undefined, { signal });
        test = await client.getMailTest({ id: test_id }, { signal });
      }
      return test;
    };
    const test = await wait().finally(end);
    const isInteractive = process.stdout.isTTY && !json;
    process.stdout.write(`${isInteractive ? formatTest(test) : JSON.stringify(test)}\n`);
    return (test.report || noWait ? EXIT_CODES.done : EXIT_CODES.noResult).code;
  },
});

const isOpen = ({ status }: GetMailTestData): boolean =>
  status === "waiting" || status === "assessing";

const STATUS_TEXTS: Readonly<Record<GetMailTestData["status"], string>> = {
  waiting: "No mail has arrived yet.",
  assessing: "The mail has arrived and is being assessed.",
  received: "The report was erased.",
  expired: "No mail arrived within the hour.",
  failed: "The mail could not be assessed.",
};

const formatTest = ({ status, address, report }: GetMailTestData): string => {
  if (!report) return `${address}\n${STATUS_TEXTS[status]}`;
  const { score, grade, spf, dkim, dmarc, findings } = report;
  const signatures = dkim.map(({ result, domain }) => `${result} (${domain ?? "no domain"})`);
  return [
    `${score} of 100, grade ${grade}`,
    `SPF    ${spf?.result ?? "unknown"}`,
    `DKIM   ${signatures.join(", ") || "no signature"}`,
    `DMARC  ${dmarc.result}`,
    ...findings.flatMap(({ severity, message, advice, record }) => [
      "",
      `${severity}: ${message}`,
      advice,
      ...(record ? [`  ${record.name}  ${record.type}  ${record.value}`] : []),
    ]),
  ]
    .map(replaceControls)
    .join("\n");
};
