import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type SelfTest,
  type SelfTestFinding,
  testEgress,
} from "@mailproof/core/egress/egress-self-test";
import {
  listProviderBlocks,
  type ProviderBlock,
} from "@mailproof/core/smtp-pool/circuit-breaker/circuit-items";
import type { Environment } from "../environment.ts";
import { createLineLog } from "../line-log.ts";
import { createSqliteTable } from "../storage/sqlite-table.ts";
import { upgradeIfOlder } from "../storage/upgrade-folder.ts";
import { type Paint, paintAnsi, paintPlain, replaceControls, type Style } from "./terminal.ts";
import { withMailPorts } from "./with-mail-ports.ts";

/** Returns the exit code: whether this host may probe. */
export const printSelfTest = async (
  environment: Environment,
  domains: readonly string[],
  json: boolean,
): Promise<number> => {
  const result = await runSelfTest(environment, domains);
  const isText = process.stdout.isTTY && !json;
  process.stdout.write(
    isText ? formatScreen(result) : `${JSON.stringify(toSelfTestOutput(result), null, 2)}\n`,
  );
  return result.mayProbe === "yes" ? 0 : 1;
};

export const runSelfTest = (
  environment: Environment,
  domains: readonly string[],
): Promise<SelfTest> =>
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
const readBlocks = async ({
  MAILPROOF_DIR,
  LOG_LEVEL,
}: Environment): Promise<readonly ProviderBlock[]> => {
  const file = join(MAILPROOF_DIR, "state.sqlite");
  if (!existsSync(file)) return [];
  const now = () => new Date();
  await upgradeIfOlder(MAILPROOF_DIR, createLineLog(LOG_LEVEL, now));
  const table = createSqliteTable(file, now);
  try {
    return await listProviderBlocks({ table, now });
  } finally {
    table.close();
  }
};

export const toSelfTestOutput = ({ mayProbe, ips, contactedServers, findings }: SelfTest) => ({
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
