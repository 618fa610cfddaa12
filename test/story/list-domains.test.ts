import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { createTlsReport } from "../things/made-reports.ts";
import { uploadFile, uploadReport } from "../things/reports.ts";

const ROUTE = "GET /v1/deliverability/domains";
const FAILED = { dkim: "fail", spf: "fail", auth: "" };

test("the list of domains contains each domain with reports, with its sums of these days and of the days before", async () => {
  const { world, liveKey: key } = await given();
  await uploadReport(world, key, { records: [{ count: 6 }, { ...FAILED, count: 2 }] });
  await uploadReport(world, key, { reporter: "yahoo.com", records: [{ count: 1 }] });
  await uploadReport(world, key, { daysBefore: 40, records: [{ ...FAILED, count: 4 }] });
  await uploadReport(world, key, { domain: "old.example", daysBefore: 300 });
  await uploadFile(
    world,
    key,
    JSON.stringify(createTlsReport()).replaceAll("example.com", "a.example"),
  );

  const { statusCode, data } = await send(world, ROUTE, { key });

  const none = { reports: 0, messages: 0, aligned: 0 };
  expect(statusCode).toBe(200);
  expect(data).toEqual({
    from: "2026-10-23",
    to: "2026-11-21",
    domains: [
      {
        domain: "a.example",
        domain_unicode: "a.example",
        ...none,
        before: none,
        last_day: "2026-03-01",
        days: [],
      },
      {
        domain: "example.com",
        domain_unicode: "example.com",
        reports: 2,
        messages: 9,
        aligned: 7,
        aligned_share: 0.7778,
        before: { reports: 1, messages: 4, aligned: 0, aligned_share: 0 },
        last_day: "2026-11-20",
        days: [{ day: "2026-11-20", reports: 2, messages: 9, aligned: 7, aligned_share: 0.7778 }],
      },
      {
        domain: "old.example",
        domain_unicode: "old.example",
        ...none,
        before: none,
        last_day: "2026-01-25",
        days: [],
      },
    ],
    has_more: false,
  });
});

test("the list of domains counts a report once, however often it arrives", async () => {
  const { world, liveKey: key } = await given();
  await uploadReport(world, key);
  await uploadReport(world, key);

  const { data } = await send(world, ROUTE, { key });

  expect(data.domains).toMatchObject([{ reports: 1, messages: 1 }]);
});

test("the pages of the list of domains contain each domain once, by name", async () => {
  const { world, liveKey: key, testKey } = await given();
  const names = ["a.com", "a.com.au", "b.com", "c.com", "d.com"];
  for (const domain of names.toReversed()) await uploadReport(world, key, { domain });

  const listed: string[] = [];
  let query: Record<string, string> = { limit: "2" };
  do {
    const { data } = await send(world, ROUTE, { key, query });
    listed.push(...data.domains.map(({ domain }: { domain: string }) => domain));
    query = data.next_offset ? { limit: "2", offset: data.next_offset } : {};
  } while (query["offset"] !== undefined);

  expect(listed).toEqual(names);
  expect((await send(world, ROUTE, { key: testKey })).data.domains).toEqual([]);
  const made = await send(world, ROUTE, { key, query: { offset: "made-up" } });
  expect(made.error.message).toContain("offset: must be a next_offset of this list");
});
