import { probeRecords, senderAt, zoneLine } from "@mailproof/core/egress/records";
import { type Finding, type SelfTest, testEgress } from "@mailproof/core/egress/self-test";
import { type Domain, isDomain, parseTypedDomain } from "@mailproof/core/mail/domain";
import { parseIp } from "@mailproof/core/mail/ip";
import * as v from "valibot";
import { type Command, command, Flag } from "./command.ts";
import type { Environment } from "./environment.ts";
import { openMailDoors } from "./mail-doors.ts";
import { sqliteTable } from "./sqlite-table.ts";
import { type Paint, painted, plain, type Style, shown } from "./terminal.ts";

const DomainName = v.pipe(
  v.string(),
  v.transform(parseTypedDomain),
  v.custom<Domain>(
    (domain) => isDomain(domain as Domain),
    "must be a domain such as probe.example.com",
  ),
  v.transform(({ ascii }) => ascii),
);
const listOf = <T extends v.GenericSchema<string, string>>(item: T) =>
  v.pipe(
    v.string(),
    v.transform((text) => text.split(",").map((one) => one.trim())),
    v.array(item),
    v.minLength(1),
  );
const Ip = v.pipe(
  v.string(),
  v.check((text) => parseIp(text) !== undefined, "must be addresses such as 192.0.2.1,2001:db8::1"),
);

/** Operated so largely that they are never away, and by as many different people. */
const DOMAINS = ["gmail.com", "outlook.com", "yahoo.com", "gmx.net", "icloud.com"];

export const egressCommands: readonly Command[] = [
  command({
    name: "admin egress records",
    usage: "--domain probe.example.com --ip 192.0.2.1[,…] --mx mail.example.com",
    options: v.strictObject({ domain: DomainName, ip: listOf(Ip), mx: DomainName }),
    async run({ options: { domain, ip: ips, mx } }) {
      const records = probeRecords({ domain, ips, mx });
      const output = {
        zone: records.map(zoneLine),
        records,
        settings: { SMTP_HELLO: domain, SMTP_FROM: senderAt(domain) },
      };
      process.stdout.write(`${JSON.stringify(output, null, 2)}\n`);
      return 0;
    },
  }),

  command({
    name: "admin egress test",
    usage: "[--domains gmail.com,…] [--json]",
    options: v.strictObject({
      domains: v.optional(listOf(DomainName), DOMAINS.join(",")),
      json: Flag,
    }),
    flags: ["json"],
    async run({ environment, options: { domains, json } }) {
      const found = await test(environment, domains);
      const asText = process.stdout.isTTY && !json;
      process.stdout.write(asText ? screen(found) : `${JSON.stringify(toWire(found), null, 2)}\n`);
      return found.mayProbe === "yes" ? 0 : 1;
    },
  }),
];

const test = async (environment: Environment, domains: readonly string[]): Promise<SelfTest> => {
  const table = sqliteTable(":memory:", () => new Date());
  const doors = openMailDoors(environment, table, null);
  const found = await testEgress(doors, {
    helo: environment.SMTP_HELLO,
    from: environment.SMTP_FROM,
    port: environment.SMTP_PORT,
    domains,
  });
  doors.close();
  table.close();
  return found;
};

const toWire = ({ mayProbe, ips, asked, findings }: SelfTest) => ({
  may_probe: mayProbe,
  ips,
  asked: asked.map(({ domain, heard, isOpen }) => ({ domain, heard, is_open: isOpen })),
  findings,
});

const LOOKS: Readonly<Record<Finding["holds"], Style>> = {
  yes: "green",
  no: "red",
  unknown: "yellow",
};
const VERDICT: Readonly<Record<Finding["holds"], string>> = {
  yes: "This host may probe.",
  no: "This host should not probe: answers would be unknown, and its address get a bad name.",
  unknown: "Nothing speaks against probing, but not everything could be looked at.",
};
const WIDTH = 13;

export const screen = (
  { mayProbe, ips, asked, findings }: SelfTest,
  paint: Paint = process.env["NO_COLOR"] ? plain : painted,
): string =>
  [
    paint(VERDICT[mayProbe], "bold", LOOKS[mayProbe]),
    `Seen from outside as ${ips.length > 0 ? ips.join(", ") : "nobody knows what"}.`,
    "",
    ...findings.map(
      ({ about, holds, says }) =>
        `${paint(holds.padEnd(8), LOOKS[holds])}${about.padEnd(WIDTH)}${shown(says)}`,
    ),
    "",
    ...asked.map(
      ({ domain, heard }) => `        ${domain.padEnd(WIDTH)}${shown(heard).slice(0, 80)}`,
    ),
    "",
  ].join("\n");
