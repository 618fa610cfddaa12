import { createEngine } from "@mailproof/core/verify/engine";
import { verify } from "@mailproof/core/verify/verify";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import { allDomains } from "@mailproof/lab/domains";
import type { RecipientRequest } from "@mailproof/lab/host-behavior";
import { LAB_ZONE, type LabOptions, startLab } from "@mailproof/lab/lab";
import { buildNetwork } from "@mailproof/lab/network";
import { readEnvironment } from "@mailproof/local/environment";
import { openMailPorts } from "@mailproof/local/mail-ports";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { describe, expect, test } from "vitest";

const plan = { zoneName: "lab.example", domains: allDomains, companies: 200 };

const createRequest = (local: string, domain: string): RecipientRequest => ({
  local,
  domain: `${domain}.lab.example`,
  nth: 1,
  earlier: [],
  waitedMs: () => 0,
});

describe("with addresses to choose from", () => {
  const { hosts } = buildNetwork({ ...plan, ownAddresses: true });

  test("no two hosts share one, and none has the machine's own", () => {
    const addresses = hosts.map(({ address }) => address);

    expect(new Set(addresses).size).toBe(addresses.length);
    expect(addresses.filter((address) => !/^127\.77\.\d+\.\d+$/.test(address))).toEqual([]);
  });

  test("companies share few hosts, and some have their own", () => {
    const names = hosts.map(({ name }) => name);

    expect(names).toContain("mx1.bighost.lab.example");
    expect(names.filter((name) => /^mx\.c\d+\.companies/.test(name)).length).toBeGreaterThan(5);
    expect(names.filter((name) => /host/.test(name)).length).toBeLessThan(60);
  });
});

describe("with one address for all", () => {
  const { hosts, zone } = buildNetwork({ ...plan, ownAddresses: false });
  const rcpt = hosts[0]?.behavior.rcpt;

  test("one host listens, and every MX leads to it", () => {
    expect(hosts).toHaveLength(1);
    expect(zone["mx.full.lab.example"]).toEqual({ A: ["127.0.0.1"] });
  });

  test.each([
    ["ada.lovelace", "valid", /^250/],
    ["nobody", "valid", /^550/],
    ["ada.lovelace", "full", /^452/],
    ["ada.lovelace", "xn--bcher-kva", /^250/],
    ["ada.lovelace", "c0001.companies", /^550|^250/],
    ["ada.lovelace", "elsewhere", /^554 5\.7\.1/],
  ])("%s@%s is answered by the domain alone", (local, domain, expected) => {
    expect(rcpt?.(createRequest(local, domain))).toMatch(expected);
  });
});

// One mail server stands in the records of many domains: as the only host, as one of two equal ones, and as the one
// to fall back on. Each way has its own queue, and the server counts them all together.

const ONE = `mx.valid.${LAB_ZONE}`;
const OTHER = `mx.noenhanced.${LAB_ZONE}`;
const CLOSED = `mx.refused.${LAB_ZONE}`;

const MX = {
  "alone.test": [[10, ONE]],
  "equal.test": [
    [10, ONE],
    [10, OTHER],
  ],
  "second.test": [
    [10, CLOSED],
    [20, ONE],
  ],
} as const;

const zones: NonNullable<LabOptions["zones"]> = Object.fromEntries(
  Object.entries(MX).map(([domain, records]) => [domain, { [domain]: { MX: records } }]),
);

test("a mail server of many domains has ten connections of ours at most", async () => {
  const lab = await startLab({ companies: 0, replyMs: 1, zones });
  const mailPorts = openMailPorts(
    readEnvironment({}),
    createSqliteTable(":memory:", () => new Date()),
    lab,
  );
  const addresses = Object.keys(MX).flatMap((domain) =>
    Array.from({ length: 300 }, (_, number) => `ada.lovelace${number}@${domain}`),
  );
  const options = { deepVerify: true, includeAi: false, includeEvidence: false };

  const world = { engine: createEngine(mailPorts), sleep: mailPorts.sleep };
  const statuses = new Set<string>();
  for await (const { status } of verifyMany(world, addresses, options)) statuses.add(status);
  const { peakSessionsPerHost: peaks } = lab.stats();
  mailPorts.close();
  await lab.close();

  expect([...statuses]).toEqual(["valid"]);
  expect(peaks[ONE]).toBe(10);
  expect(peaks[OTHER]).toBeLessThanOrEqual(10);
});

// Over real sockets, and with a clock that the test moves: a mail server that greylists accepts a person at the second
// attempt, and another process has learnt by then whether it accepts everybody.

const RETRY_MS = 6 * 60_000;
const OPTIONS = { deepVerify: true, includeAi: false, includeEvidence: true };

test.each(["greylist", "greylist451"])(
  "a person at the lab's %s is valid at the second attempt",
  async (name) => {
    let at = Date.now();
    const now = () => new Date(at);
    const lab = await startLab({ companies: 0, now });
    const table = createSqliteTable(":memory:", now);
    const mailPorts = openMailPorts(readEnvironment({}), table, lab);
    const attempt = () =>
      verify(createEngine({ ...mailPorts, now }), `ada.lovelace@${name}.${LAB_ZONE}`, OPTIONS);

    const first = await attempt();
    at += RETRY_MS;
    const second = await attempt();
    mailPorts.close();
    table.close();
    await lab.close();

    expect(first).toMatchObject({ status: "unknown", reason: "greylisted", retry: "later" });
    expect(second).toMatchObject({
      status: "valid",
      reason: "accepted",
      retry: null,
      evidence: { catchAll: "no" },
    });
  },
);
