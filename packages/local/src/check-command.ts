import { randomBytes } from "node:crypto";
import { toSections } from "@mailproof/api/schema/to-check-result";
import type { NoVerdict, Report } from "@mailproof/core/deliverability/analyse-domain";
import { coverageOf } from "@mailproof/core/deliverability/coverage";
import { lookAt } from "@mailproof/core/deliverability/names";
import { isDomain, parseTypedDomain, toUnicode } from "@mailproof/core/mail/domain";
import { isPublicIp, parseIp } from "@mailproof/core/mail/ip";
import * as v from "valibot";
import { shownOf } from "./check-by-service.ts";
import { command, Flag, Misuse } from "./command.ts";
import type { Environment } from "./environment.ts";
import { startLab } from "./lab/lab.ts";
import { openMailDoors, wantsLab } from "./mail-doors.ts";
import type { Shown } from "./report-sections.ts";
import { SERVICE, SERVICE_USAGE, type Service, serviceIn, untilInterrupted } from "./service.ts";
import { showReport } from "./show-report.ts";
import { sqliteTable } from "./sqlite-table.ts";
import { statusLinesOn } from "./status-lines.ts";
import { paintFor, shown } from "./terminal.ts";

const Ipv4 = v.pipe(
  v.string(),
  v.check((text) => parseIp(text)?.bits === 32, "must be an IPv4 address such as 192.0.2.1"),
);

const USAGE = "DOMAIN [--ip 192.0.2.1] [--json]";

/** What DNS tells about a domain that sends mail. Exit code 1: nothing could be found out about it. */
export const checkCommand = command({
  name: "check",
  usage: `${USAGE} ${SERVICE_USAGE}`,
  options: v.strictObject({ ip: v.optional(Ipv4), json: Flag, ...SERVICE }),
  flags: ["json"],
  takesWords: true,
  async run(asked) {
    const { environment, options, words } = asked;
    const domain = domainIn(words);
    const isForEyes = process.stdout.isTTY && !options.json;
    const service = serviceIn(asked);
    if (service) {
      const told = await checkBy(service, domain, options.ip);
      process.stdout.write(isForEyes ? asText(shownOf(told)) : `${JSON.stringify(told)}\n`);
      return 0;
    }
    const done = waitingOn(process.stderr, `Checking ${domain} …`);
    const found = await check(environment, domain, options.ip).finally(done);
    if (found.kind === "no_verdict") {
      process.stderr.write(`${sorry(domain, found)}\n`);
      return 1;
    }
    const { confidence } = coverageOf(found);
    process.stdout.write(isForEyes ? asText({ ...found, confidence }) : asJson(found));
    return 0;
  },
});

const domainIn = ([text, ...others]: readonly string[]): string => {
  if (text === undefined || others.length > 0)
    throw new Misuse(
      `${text === undefined ? "Missing domain" : "One domain at a time"}. Usage: mailproof check ${USAGE}`,
    );
  const domain = parseTypedDomain(text);
  if (isDomain(domain)) return domain.ascii;
  throw new Misuse(`${shown(text)} is not a domain, such as example.com.`);
};

const check = async (
  environment: Environment,
  domain: string,
  sendingIp: string | undefined,
): Promise<Report | NoVerdict> => {
  const lab = wantsLab(environment) ? await startLab() : null;
  const table = sqliteTable(":memory:", () => new Date());
  const doors = openMailDoors(environment, table, lab);
  const { names, now, sleep } = doors;
  const subject = { domain, sendingIp: sendingIp ?? null };
  try {
    if (sendingIp !== undefined && !isPublicIp(sendingIp, names.allowed))
      throw new Misuse(`ip: ${sendingIp} is a private or reserved address; name a public one.`);
    return await lookAt({ now, sleep, randomBytes }, names, subject);
  } finally {
    doors.close();
    table.close();
    await lab?.close();
  }
};

const checkBy = async ({ client }: Service, domain: string, sending_ip: string | undefined) => {
  const { signal, end } = untilInterrupted();
  const done = waitingOn(process.stderr, `Checking ${domain} …`);
  return client.checkDomain({ domain, sending_ip }, { signal }).finally(() => {
    end();
    done();
  });
};

/** A line that is erased again, on a terminal; nothing anywhere else. */
const waitingOn = (screen: NodeJS.WriteStream, text: string): (() => void) => {
  const lines = statusLinesOn(screen);
  lines.show([[text]]);
  return lines.end;
};

const sorry = (domain: string, { everyLookupTimedOut }: NoVerdict): string =>
  everyLookupTimedOut
    ? `No name server answered any query about ${domain}, so there is no verdict. Is this machine online?`
    : `The name servers of ${domain} fail, so there is no verdict. Try again later.`;

/** As the service tells it, without what only a stored check has. */
const asJson = (report: Report): string => {
  const { domain, sendingIp: sending_ip, scored } = report;
  const { score, grade } = scored;
  const told = {
    domain,
    domain_unicode: toUnicode(domain),
    ...(sending_ip !== null && { sending_ip }),
    score,
    grade,
    ...toSections(report),
  };
  return `${JSON.stringify(told)}\n`;
};

const asText = (report: Shown): string => {
  const { stdout } = process;
  return showReport(report, {
    columns: stdout.columns,
    paint: paintFor(stdout),
  });
};
