import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type SelfTest,
  type SelfTestFinding,
  testEgress,
} from "@mailproof/core/egress/egress-self-test";
import type { TestedExit } from "@mailproof/core/egress/tested-exits";
import {
  listProviderBlocks,
  type ProviderBlock,
} from "@mailproof/core/smtp-pool/circuit-breaker/circuit-items";
import { DIRECT_EXIT } from "@mailproof/mail/smtp/wire";
import { listProxyExits } from "@mailproof/net/socks";
import type { Environment } from "../environment.ts";
import { createLineLog } from "../line-log.ts";
import { createSqliteTable } from "../storage/sqlite-table.ts";
import { upgradeIfOlder } from "../storage/upgrade-folder.ts";
import { runStageSelfTest } from "./stage-egress.ts";
import { type Paint, paintAnsi, paintPlain, replaceControls, type Style } from "./terminal.ts";
import { withMailPorts } from "./with-mail-ports.ts";

type SelfTestRun = {
  readonly environment: Environment;
  readonly domains: readonly string[];
  readonly json: boolean;
  /** The stage on AWS. Undefined for this host. */
  readonly stage: string | undefined;
};

export const printSelfTest = async ({
  environment,
  domains,
  json,
  stage,
}: SelfTestRun): Promise<number> => {
  const result = await (stage === undefined
    ? runSelfTest(environment, domains)
    : runStageSelfTest(stage, domains));
  const isText = process.stdout.isTTY && !json;
  process.stdout.write(
    isText
      ? formatScreen(stage === undefined ? "This host" : `The stage ${stage}`, result)
      : `${JSON.stringify(toSelfTestOutput(result), null, 2)}\n`,
  );
  return result.mayProbe === "yes" ? 0 : 1;
};

export const runSelfTest = (
  environment: Environment,
  domains: readonly string[],
): Promise<SelfTest> =>
  withMailPorts(environment, { mayUseLab: false }, async (mailPorts) =>
    testEgress(
      { ...mailPorts, exits: listExits(environment), blocks: await readBlocks(environment) },
      {
        helo: environment.SMTP_HELLO,
        from: environment.SMTP_FROM,
        port: environment.SMTP_PORT,
        domains,
      },
    ),
  );

const listExits = ({ SMTP_PROXIES }: Environment): readonly string[] =>
  SMTP_PROXIES.length > 0 ? listProxyExits(SMTP_PROXIES) : [DIRECT_EXIT];

/** The test needs no state; an existing state shows the refusals that the service met. */
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

export const toSelfTestOutput = ({
  mayProbe,
  reach,
  ips,
  exits,
  contactedServers,
  findings,
}: SelfTest) => ({
  may_probe: mayProbe,
  reach,
  ips,
  exits: exits.map(({ exit, isReachable, ip, port25, ptr, isHello, isForward }) => ({
    exit,
    is_reachable: isReachable,
    ip,
    port_25: port25,
    ptr,
    is_hello: isHello,
    is_forward: isForward,
  })),
  contacted_servers: contactedServers.map(({ domain, exit, reply, isOpen }) => ({
    domain,
    exit,
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
  yes: "may probe.",
  no: "should not probe: results would be unknown, and its address would get a bad reputation.",
  unknown: "has no problem that was found, but some checks gave no result.",
};
const WIDTH = 13;

const formatScreen = (
  who: string,
  { mayProbe, exits, contactedServers, findings }: SelfTest,
  paint: Paint = process.env["NO_COLOR"] ? paintPlain : paintAnsi,
): string =>
  [
    paint(`${who} ${VERDICT[mayProbe]}`, "bold", STYLES[mayProbe]),
    "",
    ...formatExits(exits),
    "",
    ...findings.map(
      ({ about, holds, message }) =>
        `${paint(holds.padEnd(8), STYLES[holds])}${about.padEnd(WIDTH)}${replaceControls(message)}`,
    ),
    "",
    ...contactedServers.map(
      ({ domain, exit, reply }) =>
        `        ${domain.padEnd(WIDTH)}${exits.length > 1 ? `${exit}  ` : ""}${replaceControls(reply).slice(0, 80)}`,
    ),
    "",
  ].join("\n");

const HEADINGS = ["exit", "reachable", "seen as", "port 25", "PTR", "is EHLO", "forward"];

const formatExits = (exits: readonly TestedExit[]): readonly string[] => {
  const rows = [
    HEADINGS,
    ...exits.map(({ exit, isReachable, ip, port25, ptr, isHello, isForward }) =>
      [exit, isReachable ? "yes" : "no", ip ?? "unknown", port25, ptr ?? "unknown"]
        .concat(isHello, isForward)
        .map(replaceControls),
    ),
  ];
  const widths = HEADINGS.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
};
