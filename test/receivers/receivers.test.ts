import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { replayVerdict } from "@mailproof/core/receipts/replay-verdict";
import { createEngine } from "@mailproof/core/verify/engine";
import type { Evidence, Verification } from "@mailproof/core/verify/result";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import { startLab } from "@mailproof/lab/lab";
import type { Receiver, ReceiverCounts, Scenario } from "@mailproof/lab/receivers/receiver";
import { formatAtlas } from "@mailproof/lab/receivers/receiver-atlas";
import { RECEIVERS } from "@mailproof/lab/receivers/receivers";
import { UNDOCUMENTED } from "@mailproof/lab/receivers/undocumented";
import { readEnvironment } from "@mailproof/local/environment";
import { openMailPorts } from "@mailproof/local/mail-ports";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { MAIL_PROVIDERS } from "@mailproof/mail/mail-provider-table";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";

/** Seconds of a slow receiver take so much less here, and so do the engine's waits for it. */
const SLOW_SCALE = 10;
/** So much less do backoffs take. */
const BACKOFF_SCALE = 25;
/** The shortest backoff is half a minute; what is shorter is a time limit, which a busy machine needs in full. */
const BACKOFF_MIN_MS = 20_000;

const withShortWaits =
  (connect: SmtpConnect): SmtpConnect =>
  async (target, options) => {
    const wire = await connect(target, options);
    if (typeof wire === "string") return wire;
    return { ...wire, receive: (waitMs) => wire.receive(waitMs / SLOW_SCALE) };
  };

type ScenarioOutcome = {
  /** What differs from the scenario, a line each. Empty: the engine does as it should. */
  readonly faults: readonly string[];
  readonly counts: ReceiverCounts;
};

/** What was written down of a verdict gives it again, to the last point: no list, resolver or mail server is there. */
const isReplayed = ({ status, reason, subStatus, score, evidence }: Verification): boolean => {
  const kept = JSON.parse(JSON.stringify(evidence)) as Evidence;
  const made = { status, reason, sub_status: subStatus, quality_score: score, score: kept.score };
  return isDeepStrictEqual(replayVerdict(kept), made);
};

/** A new client verifies the scenario's list as the service does, over real sockets. */
const verifyScenario = async (
  receiver: Receiver,
  { isBlocked, results, atMost = {} }: Scenario,
): Promise<ScenarioOutcome> => {
  const isSlow = receiver.recipientSeconds !== undefined || receiver.greetingSeconds !== undefined;
  const lab = await startLab({
    companies: 0,
    receivers: true,
    slowMs: 1_000 / SLOW_SCALE,
    ...(isBlocked && {
      blockedBy: [isBlocked === true ? receiver.id : `${receiver.id}:${isBlocked}`],
    }),
  });
  const environment = readEnvironment({
    DNS_SERVERS: lab.dns,
    SMTP_PORT: String(lab.smtpPort),
    SMTP_ALLOW_PRIVATE: lab.smtpAddresses,
  });
  const table = createSqliteTable(":memory:", () => new Date());
  const own = openMailPorts(environment, table, null);
  const mailPorts = {
    ...own,
    sleep: (ms: number) => setTimeout(ms < BACKOFF_MIN_MS ? ms : ms / BACKOFF_SCALE),
    ...(isSlow && { connect: withShortWaits(own.connect) }),
  };
  const options = { deepVerify: true, includeAi: false, includeEvidence: true };
  const faults: string[] = [];
  try {
    const addresses = results.map(([address]) => address);
    let index = 0;
    for await (const result of verifyMany(createEngine(mailPorts), addresses, options)) {
      const [address, ...verdicts] = results[index++] ?? [""];
      const verdict = `${result.status} ${result.reason}`;
      if (!verdicts.some((one) => one === verdict))
        faults.push(`${address}: ${verdict}, not ${verdicts.join(" or ")}`);
      if (!isReplayed(result)) faults.push(`${address}: ${verdict} is not what its evidence gives`);
    }
    const counts = lab.stats().receivers[receiver.id];
    if (!counts) throw new Error(`The lab has no receiver ${receiver.id}.`);
    for (const [name, most] of Object.entries(atMost)) {
      const count = counts[name as keyof ReceiverCounts];
      if (count > most) faults.push(`${name}: ${count}, at most ${most}`);
    }
    return { faults, counts };
  } finally {
    mailPorts.close();
    table.close();
    await lab.close();
  }
};

// The whole engine, over real sockets, before receivers that answer as the real ones are documented to
// (docs/receivers.md).

const rows = RECEIVERS.flatMap((receiver) =>
  receiver.scenarios.map((scenario) => ({
    title: `${receiver.title}: ${scenario.shows}`,
    receiver,
    scenario,
  })),
);
const settled = rows.filter(({ scenario }) => scenario.openIssue === undefined);
const open = rows.filter(({ scenario }) => scenario.openIssue !== undefined);

test.concurrent.each(settled)("$title", async ({ receiver, scenario }) => {
  const { faults } = await verifyScenario(receiver, scenario);

  expect(faults.slice(0, 5)).toEqual([]);
});

test("a scenario with an open issue still fails; what was mended has none", async () => {
  const mended: string[] = [];
  for (const { title, receiver, scenario } of open) {
    const { faults } = await verifyScenario(receiver, scenario);
    if (faults.length === 0) mended.push(title);
  }

  expect(mended).toEqual([]);
}, 240_000);

test("docs/receivers.md has the receivers as the lab plays them", () => {
  const page = readFileSync("docs/receivers.md", "utf8");
  const entries = page.slice(page.indexOf("## Documented receivers"));

  expect(entries, "run: npx node scripts/write-receivers-page.mjs").toBe(`${formatAtlas()}\n`);
});

test("each provider of the engine's table has one entry", () => {
  const providers = [...new Set(MAIL_PROVIDERS.map(({ name }) => name))].toSorted();
  const documented: readonly string[] = RECEIVERS.map(({ id }) => id);
  const undocumented = Object.keys(UNDOCUMENTED);
  const entries = [...documented, ...undocumented];

  expect(
    providers.filter((name) => !entries.includes(name)),
    "each has a receiver, or a name in undocumented.ts",
  ).toEqual([]);
  expect(undocumented.filter((id) => documented.includes(id))).toEqual([]);
});
