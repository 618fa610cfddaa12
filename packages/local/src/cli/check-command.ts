import { randomBytes } from "node:crypto";
import type { CheckReport, NoVerdict } from "@mailproof/core/deliverability/analyse-domain";
import { runLookups } from "@mailproof/core/deliverability/dns-lookups";
import { isDomain, parseTypedDomain } from "@mailproof/core/mail/domain";
import { isPublicIp, parseIp } from "@mailproof/core/mail/ip";
import * as v from "valibot";
import type { Environment } from "../environment.ts";
import { defineCommand, Flag, UsageError } from "./define-command.ts";
import { type LocalFindings, type ReportResponse, toReportResponse } from "./report-sections.ts";
import { findService, SERVICE, SERVICE_USAGE, type Service, watchInterrupt } from "./service.ts";
import { showReport } from "./show-report.ts";
import { createStatusLines } from "./status-lines.ts";
import { choosePaint, replaceControls } from "./terminal.ts";
import { withMailPorts } from "./with-mail-ports.ts";

const Ipv4 = v.pipe(
  v.string(),
  v.check((text) => parseIp(text)?.bits === 32, "must be an IPv4 address such as 192.0.2.1"),
);

const USAGE = "DOMAIN [--ip 192.0.2.1] [--json]";

/** Checks the DNS of a domain that sends mail. Exit code 1: there is no verdict. */
export const checkCommand = defineCommand({
  name: "check",
  usage: `${USAGE} ${SERVICE_USAGE}`,
  options: v.strictObject({ ip: v.optional(Ipv4), json: Flag, ...SERVICE }),
  flags: ["json"],
  takesWords: true,
  async run(input) {
    const { environment, options, words } = input;
    const domain = parseDomainArgument(words);
    const isInteractive = process.stdout.isTTY && !options.json;
    const service = findService(input);
    if (service) {
      const response = await checkByService(service, domain, options.ip);
      process.stdout.write(isInteractive ? formatText(response) : `${JSON.stringify(response)}\n`);
      return 0;
    }
    const eraseLine = showStatusLine(process.stderr, `Checking ${domain} …`);
    const outcome = await checkLocally(environment, domain, options.ip).finally(eraseLine);
    if (outcome.kind === "no_verdict") {
      process.stderr.write(`${explainNoVerdict(domain, outcome)}\n`);
      return 1;
    }
    const response = toReportResponse(outcome);
    process.stdout.write(
      isInteractive ? formatText(response, outcome) : `${JSON.stringify(response)}\n`,
    );
    return 0;
  },
});

const parseDomainArgument = ([text, ...others]: readonly string[]): string => {
  if (text === undefined || others.length > 0)
    throw new UsageError(
      `${text === undefined ? "Missing domain" : "One domain at a time"}. Usage: mailproof check ${USAGE}`,
    );
  const domain = parseTypedDomain(text);
  if (isDomain(domain)) return domain.ascii;
  throw new UsageError(`${replaceControls(text)} is not a domain, such as example.com.`);
};

const checkLocally = (
  environment: Environment,
  domain: string,
  sendingIp: string | undefined,
): Promise<CheckReport | NoVerdict> =>
  withMailPorts(environment, { mayUseLab: true }, async ({ dnsLookups: names, now, sleep }) => {
    const subject = { domain, sendingIp: sendingIp ?? null };
    if (sendingIp !== undefined && !isPublicIp(sendingIp, names.allowed))
      throw new UsageError(`ip: ${sendingIp} is a private or reserved address; use a public one.`);
    return runLookups({ now, sleep, randomBytes }, names, subject);
  });

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

/** A line that is erased again, on a terminal; nothing anywhere else. */
const showStatusLine = (screen: NodeJS.WriteStream, text: string): (() => void) => {
  const lines = createStatusLines(screen);
  lines.show([[text]]);
  return lines.end;
};

const explainNoVerdict = (domain: string, { everyLookupTimedOut }: NoVerdict): string =>
  everyLookupTimedOut
    ? `No name server answered any query about ${domain}, so there is no verdict. Is this machine online?`
    : `The name servers of ${domain} fail, so there is no verdict. Try again later.`;

const formatText = (report: ReportResponse, local?: LocalFindings): string => {
  const { stdout } = process;
  const layout = { columns: stdout.columns, paint: choosePaint(stdout) };
  return showReport(report, layout, local);
};
