import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
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
import { UsageError } from "./define-command.ts";
import { type Paint, paintAnsi, paintPlain, replaceControls, type Style } from "./terminal.ts";
import { withMailPorts } from "./with-mail-ports.ts";

/** AWS's command line repeats a call that takes longer than 200 seconds, and the prober may take 150 seconds. */
const READ_SECONDS = 200;

/**
 * Runs the test in the prober of a stage, because the exits admit only the stage. AWS's command line has the operator's credentials and
 * region.
 */
const runStageSelfTest = async (stage: string, domains: readonly string[]): Promise<SelfTest> => {
  const name = `/mailproof/${stage}/lambda/Prober`;
  const prober = aws("ssm", "get-parameter", "--name", name, "--query", "Parameter.Value");
  const folder = mkdtempSync(join(tmpdir(), "mailproof-egress-"));
  try {
    const [question, answer] = [join(folder, "question"), join(folder, "answer")];
    writeFileSync(question, JSON.stringify({ egressTest: { domains } }));
    const asked = ["--function-name", prober, "--payload", `fileb://${question}`];
    const options = ["--cli-read-timeout", String(READ_SECONDS), "--query", "FunctionError"];
    const failed = aws("lambda", "invoke", ...asked, ...options, answer);
    if (failed !== "None")
      throw new UsageError(`${prober} failed: ${readFileSync(answer, "utf8").slice(0, 300)}`);
    return JSON.parse(readFileSync(answer, "utf8")) as SelfTest;
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const aws = (...args: readonly string[]): string => {
  try {
    return execFileSync("aws", [...args, "--output", "text"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  } catch (error) {
    const { code, stderr } = error as { readonly code?: string; readonly stderr?: string };
    throw new UsageError(
      code === "ENOENT"
        ? "This needs AWS's command line (aws), with your credentials and region."
        : `aws ${args.slice(0, 2).join(" ")}: ${stderr?.trim()}`,
    );
  }
};

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

export const toSelfTestOutput = (test: SelfTest) => ({
  may_probe: test.mayProbe,
  reach: test.reach,
  ips: test.ips,
  exits: test.exits.map(({ exit, isReachable, ip, port25, ptr, isHello, isForward }) => ({
    exit,
    is_reachable: isReachable,
    ip,
    port_25: port25,
    ptr,
    is_hello: isHello,
    is_forward: isForward,
  })),
  contacted_servers: test.contactedServers.map(({ domain, exit, reply, isOpen }) => ({
    domain,
    exit,
    reply,
    is_open: isOpen,
  })),
  findings: test.findings,
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
