import { readFileSync } from "node:fs";
import { createEngine, type Engine } from "@mailproof/core/verify/engine";
import { BANDS } from "@mailproof/core/verify/score";
import { verify } from "@mailproof/core/verify/verify";
import { getPeople } from "@mailproof/lab/companies";
import { allDomains } from "@mailproof/lab/domains";
import { LAB_ZONE, type Lab, startLab } from "@mailproof/lab/lab";
import { formatLabTables } from "@mailproof/lab/lab-tables";
import { readEnvironment } from "@mailproof/local/environment";
import { openMailPorts } from "@mailproof/local/mail-ports";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { afterAll, beforeAll, expect, test } from "vitest";

// The whole engine, over real sockets, against every situation that the lab has. What it should come to stands
// beside each domain and in docs/lab.md, so a newcomer sees what the tests see.

let lab: Lab;
let engine: Engine;
let close: () => void;
beforeAll(async () => {
  lab = await startLab({ slowMs: 30 });
  const table = createSqliteTable(":memory:", () => new Date());
  const mailPorts = openMailPorts(readEnvironment({}), table, lab);
  engine = createEngine({ ...mailPorts, connect: withShortTimeouts(mailPorts.connect) });
  close = mailPorts.close;
});
afterAll(async () => {
  close();
  await lab.close();
});

/** They are given up on whatever happens, so there is no need to wait for it; all others have production's time. */
const NEVER_ANSWER = ["silent", "silentrcpt"];
const SILENT_WAIT_MS = 500;

const withShortTimeouts =
  (connect: SmtpConnect): SmtpConnect =>
  async (target, options) => {
    const wire = await connect(target, options);
    const isSilent = NEVER_ANSWER.some((name) => target.host.endsWith(`.${name}.${LAB_ZONE}`));
    if (typeof wire === "string" || !isSilent) return wire;
    return { ...wire, receive: (waitMs) => wire.receive(Math.min(waitMs, SILENT_WAIT_MS)) };
  };

const OPTIONS = { deepVerify: true, includeAi: true, includeEvidence: true };

const examples = allDomains.flatMap(({ name, examples: tries }) =>
  tries.map(([local, status, reason]) => ({
    email: `${local}@${name}.${LAB_ZONE}`,
    status,
    reason,
  })),
);

test("the lab covers at least 25 situations", () => {
  expect(new Set(allDomains.map(({ name }) => name)).size).toBeGreaterThan(25);
});

test.concurrent.each(examples)(
  "the verification of $email returns $status: $reason",
  async ({ email, status, reason }) => {
    const result = await verify(engine, email, OPTIONS);

    expect({ status: result.status, reason: result.reason }).toEqual({ status, reason });
    const { least, most } = BANDS[result.status];
    expect(result.score).toBeGreaterThanOrEqual(least);
    expect(result.score).toBeLessThanOrEqual(most);
    const parts = result.evidence?.score.map(({ points }) => points) ?? [];
    expect(parts.reduce((sum, points) => sum + points, 0)).toBe(result.score);
  },
);

test("the engine asks about a mailbox by RCPT alone", () => {
  const verbs = Object.keys(lab.stats().commands ?? {});

  expect(verbs).toContain("RCPT");
  expect(verbs.filter((verb) => ["DATA", "VRFY", "EXPN", "BDAT"].includes(verb))).toEqual([]);
});

test("the evidence omits the session's other recipients", async () => {
  const both = ["ada.lovelace", "grace.hopper"].map((local) => `${local}@valid.${LAB_ZONE}`);

  const [ada] = await Promise.all(both.map((email) => verify(engine, email, OPTIONS)));

  const transcript = JSON.stringify(ada?.evidence?.transcript);
  expect(transcript).toContain("ada.lovelace");
  expect(transcript).not.toContain("grace.hopper");
});

const squeezeSpaces = (text: string) => text.replaceAll(/ +/g, " ").replaceAll(/-{2,}/g, "--");

test("docs/lab.md contains the tables as the lab serves them", () => {
  const [, written = ""] = readFileSync("docs/lab.md", "utf8").split("## What to expect\n\n");

  expect(squeezeSpaces(written.trimEnd()), "run: npx node scripts/write.ts lab").toBe(
    squeezeSpaces(formatLabTables()),
  );
});

test("every domain of the lab has its own name, and an example address", () => {
  const names = allDomains.map(({ name }) => name);

  expect(new Set(names).size).toBe(names.length);
  expect(allDomains.filter(({ examples }) => examples.length === 0)).toEqual([]);
});

test("the lab describes every mail host that its MX records name", () => {
  const missing = allDomains.flatMap(({ name, mx = [[10, "mx"]], hosts = {}, records, aliasOf }) =>
    typeof records === "string" || aliasOf
      ? []
      : mx
          .filter(([, host]) => host !== "" && !(host in hosts))
          .map(([, host]) => `${host} at ${name}`),
  );

  expect(missing.filter((one) => !/^gone|^spare/.test(one))).toEqual([]);
});

test("a company employs a few to sixty people, each with their own address", () => {
  for (let number = 1; number <= 300; number += 1) {
    const staff = getPeople(`c${String(number).padStart(4, "0")}`);

    expect(staff.length).toBeGreaterThanOrEqual(3);
    expect(staff.length).toBeLessThanOrEqual(60);
    expect(new Set(staff.map(({ local }) => local)).size).toBe(staff.length);
  }
});
