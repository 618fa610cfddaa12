import { createEngine } from "@mailproof/core/verify/engine";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import { LAB_ZONE, type LabOptions, startLab } from "@mailproof/lab/lab";
import { readEnvironment } from "@mailproof/local/environment";
import { openMailPorts } from "@mailproof/local/mail-ports";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, test } from "vitest";

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

  const statuses = new Set<string>();
  for await (const { status } of verifyMany(createEngine(mailPorts), addresses, options))
    statuses.add(status);
  const { peakSessionsPerHost: peaks } = lab.stats();
  mailPorts.close();
  await lab.close();

  expect([...statuses]).toEqual(["valid"]);
  expect(peaks[ONE]).toBe(10);
  expect(peaks[OTHER]).toBeLessThanOrEqual(10);
});
