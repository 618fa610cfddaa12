import { readAlignment } from "@mailproof/core/deliverability/reports/alignment";
import { expect, test } from "vitest";
import { given } from "../../../given.ts";
import { uploadReport } from "../../../reports.ts";

const FAILED = { dkim: "fail", spf: "fail", auth: "" };
const query = { domain: "example.com", days: 14 };

test("the share of aligned mail is that of the days, with every source that sends unaligned", async () => {
  const { world, account, liveKey } = await given();
  const records = [
    { count: 97 },
    { ...FAILED, ip: "198.51.100.1", count: 2 },
    { ...FAILED, ip: "198.51.100.2", count: 1, reasons: ["forwarded"] },
  ];
  await uploadReport(world, liveKey, { records });
  await uploadReport(world, liveKey, { daysBefore: 20, records: [{ ...FAILED, count: 1_000 }] });

  const alignment = await readAlignment(world, { account, mode: "live" }, query);

  expect(alignment).toMatchObject({ reports: 1, messages: 100, share: 0.97, isTruncated: false });
  expect(alignment.unalignedSources.map(({ ip }) => ip)).toEqual(["198.51.100.1"]);
});

test("without a message there is no share", async () => {
  const { world, account } = await given();

  const alignment = await readAlignment(world, { account, mode: "live" }, query);

  expect(alignment).toMatchObject({ reports: 0, messages: 0, share: null, unalignedSources: [] });
});
