import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Domain, isDomain, parseTypedDomain } from "@mailproof/core/mail/domain";
import { parseIp } from "@mailproof/core/mail/ip";
import {
  listProviderBlocks,
  type ProviderBlock,
} from "@mailproof/core/smtp-pool/circuit-breaker/circuit-items";
import {
  buildProbeRecords,
  formatZoneLine,
  toSenderAddress,
} from "@mailproof/core/smtp-pool/egress/egress-records";
import {
  type SelfTest,
  type SelfTestFinding,
  testEgress,
} from "@mailproof/core/smtp-pool/egress/egress-self-test";
import * as v from "valibot";
import type { Environment } from "../environment.ts";
import { createSqliteTable } from "../storage/sqlite-table.ts";
import { type Command, defineCommand, Flag } from "./define-command.ts";
import { type Paint, paintAnsi, paintPlain, replaceControls, type Style } from "./terminal.ts";
import { withMailPorts } from "./with-mail-ports.ts";

const DomainName = v.pipe(
  v.string(),
  v.transform(parseTypedDomain),
  v.custom<Domain>(
    (domain) => isDomain(domain as Domain),
    "must be a domain such as probe.example.com",
  ),
  v.transform(({ ascii }) => ascii),
);
const createListSchema = <T extends v.GenericSchema<string, string>>(item: T) =>
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

/** Large services that are always reachable, of different operators. */
const DOMAINS = ["gmail.com", "outlook.com", "yahoo.com", "gmx.net", "icloud.com"];

export const egressCommands: readonly Command[] = [
  defineCommand({
    name: "admin egress records",
    usage: "--domain probe.example.com --ip 192.0.2.1[,…] --mx mail.example.com",
    options: v.strictObject({ domain: DomainName, ip: createListSchema(Ip), mx: DomainName }),
    async run({ options: { domain, ip: ips, mx } }) {
      const records = buildProbeRecords({ domain, ips, mx });
      const output = {
        zone: records.map(formatZoneLine),
        records,
        settings: { SMTP_HELLO: domain, SMTP_FROM: toSenderAddress(domain) },
      };
      process.stdout.write(`${JSON.stringify(output, null, 2)}\n`);
      return 0;
    },
  }),

  defineCommand({
    name: "admin egress test",
    usage: "[--domains gmail.com,…] [--json]",
    options: v.strictObject({
      domains: v.optional(createListSchema(DomainName), DOMAINS.join(",")),
      json: Flag,
    }),
    flags: ["json"],
    async run({ environment, options: { domains, json } }) {
      const result = await runSelfTest(environment, domains);
      const isText = process.stdout.isTTY && !json;
      process.stdout.write(
        isText ? formatScreen(result) : `${JSON.stringify(toJson(result), null, 2)}\n`,
      );
      return result.mayProbe === "yes" ? 0 : 1;
    },
  }),
];

const runSelfTest = (environment: Environment, domains: readonly string[]): Promise<SelfTest> =>
  withMailPorts(environment, { mayUseLab: false }, async (mailPorts) =>
    testEgress(
      { ...mailPorts, blocks: await readBlocks(environment) },
      {
        helo: environment.SMTP_HELLO,
        from: environment.SMTP_FROM,
        port: environment.SMTP_PORT,
        domains,
      },
    ),
  );

/** The test needs no state; where there is some, it shows what the service met. */
const readBlocks = async ({ MAILPROOF_DIR }: Environment): Promise<readonly ProviderBlock[]> => {
  const file = join(MAILPROOF_DIR, "state.sqlite");
  if (!existsSync(file)) return [];
  const now = () => new Date();
  const table = createSqliteTable(file, now);
  try {
    return await listProviderBlocks({ table, now });
  } finally {
    table.close();
  }
};

const toJson = ({ mayProbe, ips, contactedServers, findings }: SelfTest) => ({
  may_probe: mayProbe,
  ips,
  contacted_servers: contactedServers.map(({ domain, reply, isOpen }) => ({
    domain,
    reply,
    is_open: isOpen,
  })),
  findings,
});

const STYLES: Readonly<Record<SelfTestFinding["holds"], Style>> = {
  yes: "green",
  no: "red",
  unknown: "yellow",
};
const VERDICT: Readonly<Record<SelfTestFinding["holds"], string>> = {
  yes: "This host may probe.",
  no: "This host should not probe: results would be unknown, and its address would get a bad reputation.",
  unknown: "No problem found, but some checks gave no result.",
};
const WIDTH = 13;

const formatScreen = (
  { mayProbe, ips, contactedServers, findings }: SelfTest,
  paint: Paint = process.env["NO_COLOR"] ? paintPlain : paintAnsi,
): string =>
  [
    paint(VERDICT[mayProbe], "bold", STYLES[mayProbe]),
    `Seen from outside as ${ips.length > 0 ? ips.join(", ") : "an unknown address"}.`,
    "",
    ...findings.map(
      ({ about, holds, message }) =>
        `${paint(holds.padEnd(8), STYLES[holds])}${about.padEnd(WIDTH)}${replaceControls(message)}`,
    ),
    "",
    ...contactedServers.map(
      ({ domain, reply }) =>
        `        ${domain.padEnd(WIDTH)}${replaceControls(reply).slice(0, 80)}`,
    ),
    "",
  ].join("\n");
