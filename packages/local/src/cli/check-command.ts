import type { FlattenedSpf } from "@mailproof/api/schema/proposed-records";
import { DomainNames } from "@mailproof/api/schema/sender";
import type { NoVerdict } from "@mailproof/core/deliverability/analyse-domain";
import { isDomain, parseTypedDomain } from "@mailproof/mail/domain";
import { parseIp } from "@mailproof/mail/ip";
import * as v from "valibot";
import { passing } from "../environment.ts";
import { PROGRAM } from "../installation.ts";
import { defineCommand, describeOption, Flag, UsageError } from "./define-command.ts";
import { DRY_RUN, printQuote } from "./dry-run.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { type LocalFindings, type ReportResponse, toReportResponse } from "./report-sections.ts";
import {
  findService,
  LOCAL,
  QUIET,
  requireService,
  SERVICE,
  type Service,
  watchInterrupt,
} from "./service.ts";
import { showReport } from "./show-report.ts";
import { showReports } from "./show-reports.ts";
import { createStatusLines } from "./status-lines.ts";
import { choosePaint, replaceControls } from "./terminal.ts";

const Ipv4 = passing(
  (text) => parseIp(text)?.bits === 32,
  "must be an IPv4 address such as 192.0.2.1",
);

const USAGE = "DOMAIN [options]";

export const checkCommand = defineCommand({
  usage: USAGE,
  options: v.strictObject({
    ip: describeOption(v.optional(Ipv4), "also checks the reverse DNS of this sending address", {
      value: "192.0.2.1",
    }),
    flatten: describeOption(
      v.optional(DomainNames),
      "also prints the SPF record with address blocks instead of these includes",
      { value: "_spf.example.net,..." },
    ),
    reports: describeOption(
      Flag,
      "prints what receivers reported about the domain, with a service; free of charge",
    ),
    json: describeOption(Flag, "prints the report with the API's fields, also on a terminal"),
    ...DRY_RUN,
    ...QUIET,
    ...LOCAL,
    ...SERVICE,
  }),
  examples: [
    "check example.com",
    "check example.com --ip 192.0.2.1 --json",
    "check example.com --flatten _spf.example.net",
    "check example.com --reports",
  ],
  takesWords: true,
  async run(input) {
    const { environment, options, words } = input;
    const domain = parseDomainArgument(words);
    const isInteractive = process.stdout.isTTY && !options.json;
    if (options.reports) return printReports(requireService(input), domain, isInteractive);
    const service = findService(input);
    if (options["dry-run"])
      return printQuote(service, "deliverabilityCheck", { operations: 1 }, options.json);
    const { flatten } = options;
    if (service) {
      const response = await checkByService(service, domain, options.ip);
      const read = flatten && { id: response.check_id, flatten: flatten.join(",") };
      const flattened = read && (await service.client.getCheck(read)).flattened_spf;
      print(isInteractive, response, flattened);
      return EXIT_CODES.done.code;
    }
    const { checkLocally, flattenLocally } = await import("./check-locally.ts");
    const eraseLine = showStatusLine(process.stderr, `Checking ${domain} …`);
    const outcome = await checkLocally(environment, domain, options.ip).finally(eraseLine);
    if (outcome.kind === "no_verdict") {
      process.stderr.write(`${explainNoVerdict(domain, outcome)}\n`);
      return EXIT_CODES.noResult.code;
    }
    const flattened = flatten && (await flattenLocally(outcome, flatten));
    print(isInteractive, toReportResponse(outcome), flattened, outcome);
    return EXIT_CODES.done.code;
  },
});

const parseDomainArgument = ([text, ...others]: readonly string[]): string => {
  if (text === undefined || others.length > 0)
    throw new UsageError(
      `${text === undefined ? "Missing domain" : "One domain at a time"}. Usage: ${PROGRAM} check ${USAGE}`,
    );
  const domain = parseTypedDomain(text);
  if (isDomain(domain)) return domain.ascii;
  throw new UsageError(`${replaceControls(text)} is not a domain, such as example.com.`);
};

const printReports = async (
  { client }: Service,
  domain: string,
  isInteractive: boolean,
): Promise<number> => {
  const reports = await client.getDomainReports({ domain });
  const { stdout } = process;
  const layout = { columns: stdout.columns, paint: choosePaint(stdout) };
  stdout.write(isInteractive ? showReports(reports, layout) : `${JSON.stringify(reports)}\n`);
  return EXIT_CODES.done.code;
};

const checkByService = async (
  { client }: Service,
  domain: string,
  sending_ip: string | undefined,
) => {
  const { signal, end } = watchInterrupt();
  const eraseLine = showStatusLine(process.stderr, `Checking ${domain} …`);
  return client.checkDomain({ domain, sending_ip }, { signal }).finally(() => {
    end();
    eraseLine();
  });
};

const showStatusLine = (screen: NodeJS.WriteStream, text: string): (() => void) => {
  const lines = createStatusLines(screen);
  lines.show([[text]]);
  return lines.end;
};

const explainNoVerdict = (domain: string, { why }: NoVerdict): string =>
  why === "unanswered"
    ? `No name server answered any query about ${domain}, so there is no verdict. Is this machine online?`
    : `This machine could not send every query about ${domain}, so there is no verdict. Try again later.`;

const print = (
  isInteractive: boolean,
  report: ReportResponse,
  flattened: FlattenedSpf | undefined,
  local?: LocalFindings,
): void => {
  const { stdout } = process;
  const layout = { columns: stdout.columns, paint: choosePaint(stdout) };
  const whole = { ...report, ...(flattened && { flattened_spf: flattened }) };
  stdout.write(isInteractive ? showReport(whole, layout, local) : `${JSON.stringify(whole)}\n`);
};
