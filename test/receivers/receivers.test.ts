import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { replayVerdict } from "@mailproof/core/receipts/replay-verdict";
import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { createEngine } from "@mailproof/core/verify/engine";
import type { Evidence, Verification } from "@mailproof/core/verify/result";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import { startLab } from "@mailproof/lab/lab";
import {
  type Receiver,
  type ReceiverCounts,
  type Scenario,
  SESSIONS_INTO_BLOCK_MAX,
} from "@mailproof/lab/receivers/receiver";
import { formatAtlas, UNDOCUMENTED } from "@mailproof/lab/receivers/receiver-atlas";
import { RECEIVERS } from "@mailproof/lab/receivers/receivers";
import type { StartTimer } from "@mailproof/lab/session";
import { readEnvironment } from "@mailproof/local/environment";
import { openMailPorts } from "@mailproof/local/mail-ports";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import type { Dns } from "@mailproof/mail/dns/dns";
import { MAIL_PROVIDERS } from "@mailproof/mail/mail-provider-table";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { createVirtualTime } from "../app/virtual-time.ts";
import { countCall, countWait } from "../aws/pending-calls.ts";
import { createRandom } from "../simulation/random.ts";

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

/** Time stands still while a reply is on its way, and goes to the next moment for which either end waits. */
const createClock = () => {
  const { now, sleep } = createVirtualTime(new Date("2026-11-21T00:00:00.000Z"));
  const startTimer: StartTimer = (act, ms) => {
    const aborting = new AbortController();
    void countWait(() => sleep(ms, aborting.signal)).then(() => {
      if (!aborting.signal.aborted) act();
    });
    return () => aborting.abort();
  };
  const countDns =
    (dns: Dns): Dns =>
    (type, name) =>
      countCall(() => dns(type, name));
  const countConnect =
    (connect: SmtpConnect): SmtpConnect =>
    async (target, options) => {
      const wire = await countCall(() => connect(target, options));
      if (typeof wire === "string") return wire;
      return {
        send: (...lines) => wire.send(...lines),
        receive: (waitMs) => countCall(() => wire.receive(waitMs)),
        startTls: (host, waitMs) => countCall(() => wire.startTls(host, waitMs)),
        close: () => countCall(() => wire.close()),
      };
    };
  return { now, sleep, startTimer, countDns, countConnect };
};

/** A new client verifies the scenario's list as the service does, over real sockets. */
const verifyScenario = async (
  receiver: Receiver,
  { isBlocked, results, atMost = {} }: Scenario,
): Promise<ScenarioOutcome> => {
  const { now, sleep, startTimer, countDns, countConnect } = createClock();
  const lab = await startLab({
    companies: 0,
    receivers: true,
    now,
    startTimer,
    ...(isBlocked && {
      blockedBy: [isBlocked === true ? receiver.id : `${receiver.id}:${isBlocked}`],
    }),
  });
  const environment = readEnvironment({
    DNS_SERVERS: lab.dns,
    SMTP_PORT: String(lab.smtpPort),
    SMTP_ALLOW_PRIVATE: lab.smtpAddresses,
  });
  const table = createSqliteTable(":memory:", now);
  const own = openMailPorts(environment, table, null);
  await own.listsReady;
  const random = createRandom(1);
  const mailPorts = {
    ...own,
    now,
    steadyNow: now,
    sleep,
    random,
    slots: createLocalSlots({ now }),
    dns: countDns(own.dns),
    connect: countConnect(own.connect),
  };
  const options = { deepVerify: true, includeAi: false, includeEvidence: true };
  const faults: string[] = [];
  try {
    const addresses = results.map(([address]) => address);
    let index = 0;
    const world = { engine: createEngine(mailPorts), sleep };
    for await (const result of verifyMany(world, addresses, options)) {
      const [address, ...verdicts] = results[index++] ?? [""];
      const verdict = `${result.status} ${result.reason}`;
      if (!verdicts.some((one) => one === verdict))
        faults.push(`${address}: ${verdict}, not ${verdicts.join(" or ")}`);
      if (!isReplayed(result)) faults.push(`${address}: ${verdict} is not what its evidence gives`);
    }
    const counts = lab.stats().receivers[receiver.id];
    if (!counts) throw new Error(`The lab has no receiver ${receiver.id}.`);
    for (const [name, most] of Object.entries({
      sessionsIntoBlock: SESSIONS_INTO_BLOCK_MAX,
      ...atMost,
    })) {
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

test.each(rows)("$title", async ({ receiver, scenario }) => {
  const { faults } = await verifyScenario(receiver, scenario);

  expect(faults.slice(0, 5)).toEqual([]);
});

test("docs/receivers.md describes the receivers as the lab plays them", () => {
  const page = readFileSync("docs/receivers.md", "utf8");
  const entries = page.slice(page.indexOf("## Documented receivers"));

  expect(entries, "run: npx node scripts/write.ts receivers").toBe(`${formatAtlas()}\n`);
});

test("each provider of the engine's table has one entry in docs/receivers.md", () => {
  const providers = [...new Set(MAIL_PROVIDERS.map(({ name }) => name))].toSorted();
  const documented: readonly string[] = RECEIVERS.map(({ id }) => id);
  const undocumented = Object.keys(UNDOCUMENTED);
  const entries = [...documented, ...undocumented];

  expect(
    providers.filter((name) => !entries.includes(name)),
    "each has a receiver, or a name in UNDOCUMENTED",
  ).toEqual([]);
  expect(undocumented.filter((id) => documented.includes(id))).toEqual([]);
});
