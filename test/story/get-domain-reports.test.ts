import type { AppWorld } from "@mailproof/core/app-world";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { createZoneDns, type Zone } from "../app/zone.ts";
import { asRows } from "../runner/as-rows.ts";
import { createTlsPolicy, createTlsReport } from "../things/made-reports.ts";
import { uploadFile, uploadReport } from "../things/reports.ts";

const ask = (
  world: AppWorld,
  key: string,
  query: Readonly<Record<string, string>> = {},
  domain = "example.com",
) => send(world, `GET /v1/deliverability/domains/${domain}/reports`, { key, query });

const FAILED = { dkim: "fail", spf: "fail", auth: "" };

const SUMS = {
  forwarded: 0,
  unauthenticated: 0,
  dispositions: [{ disposition: "none", messages: 10 }],
};

test("the report summary of a domain without reports contains sums of 0 and no share", async () => {
  const { world, liveKey: key } = await given();

  const { statusCode, data } = await ask(world, key);

  expect(statusCode).toBe(200);
  expect(data).toEqual({
    domain: "example.com",
    domain_unicode: "example.com",
    reports_address: expect.stringMatching(/^reports-[0-9a-f]{32}@mail\.example\.com$/),
    from: "2026-10-23",
    to: "2026-11-21",
    truncated: false,
    reporters: [],
    notes: [],
    unreadable: [],
    dmarc: {
      reports: 0,
      unauthenticated_reports: 0,
      messages: 0,
      aligned: 0,
      spf_aligned: 0,
      dkim_aligned: 0,
      forwarded: 0,
      unauthenticated: 0,
      dispositions: [],
      days: [],
      providers: [],
      senders: [],
      sender_count: 0,
      source_count: 0,
      sources: [],
    },
    tls: { reports: 0, succeeded: 0, failed: 0, policies: [], days: [] },
    has_more: false,
  });
});

test("the report summary adds up all receivers' reports in total, by day and by source, with advice per source", async () => {
  const { world, liveKey: key } = await given();
  await uploadReport(world, key, { records: [{ count: 5 }] });
  await uploadReport(world, key, {
    reporter: "yahoo.com",
    daysBefore: 2,
    policy: "<p>reject</p>",
    records: [
      { count: 5, disposition: "none" },
      { ...FAILED, ip: "198.51.100.7", count: 2, disposition: "reject", reasons: ["local_policy"] },
    ],
  });

  const { data } = await ask(world, key, { days: "7" });

  expect(data).toMatchObject({
    from: "2026-11-15",
    reporters: [
      { name: "google.com", reports: 1 },
      { name: "yahoo.com", reports: 1 },
    ],
    dmarc: {
      reports: 2,
      policy: { p: "none", sp: "none", testing: false },
      messages: 12,
      aligned: 10,
      aligned_share: 0.8333,
      dispositions: [
        { disposition: "none", messages: 10 },
        { disposition: "reject", messages: 2 },
      ],
      days: [
        { day: "2026-11-19", messages: 7, aligned: 5 },
        { day: "2026-11-20", messages: 5, aligned: 5, aligned_share: 1 },
      ],
      source_count: 2,
    },
  });
  expect(data.dmarc.sources).toEqual([
    {
      ip: "192.0.2.1",
      host_name: "out.in-addr.arpa",
      ...SUMS,
      messages: 10,
      aligned: 10,
      spf_aligned: 10,
      dkim_aligned: 10,
      aligned_share: 1,
      reasons: [],
      authenticated_as: ["example.com"],
      first_day: "2026-11-19",
      last_day: "2026-11-20",
      advice: { code: "aligned", text: "Nothing to do: this mail is aligned." },
    },
    {
      ip: "198.51.100.7",
      messages: 2,
      aligned: 0,
      spf_aligned: 0,
      dkim_aligned: 0,
      forwarded: 0,
      unauthenticated: 0,
      dispositions: [{ disposition: "reject", messages: 2 }],
      aligned_share: 0,
      reasons: [{ reason: "local_policy", messages: 2 }],
      authenticated_as: [],
      first_day: "2026-11-19",
      last_day: "2026-11-19",
      advice: {
        code: "unknown_source",
        text: expect.stringContaining("add ip4:198.51.100.7 to SPF"),
        spf_term: "ip4:198.51.100.7",
      },
    },
  ]);
});

test("the report summary counts the reports of the given days and none of another domain", async () => {
  const { world, liveKey: key } = await given();
  await uploadReport(world, key, { daysBefore: 6 });
  await uploadReport(world, key, { daysBefore: 7 });
  await uploadReport(world, key, { domain: "other.example" });

  const { data } = await ask(world, key, { days: "7" });

  expect(data.dmarc.reports).toBe(1);
  expect((await ask(world, key)).data.dmarc.reports).toBe(2);
});

const GOOGLE = "_spf.google.com";
const AUTH = "<dkim><domain>mail.sendgrid.net</domain><result>pass</result></dkim>";

/** What a source sends, its name in DNS, and the advice for it. */
const SOURCES = asRows`
  a service with an include, by its host's name | ${{ ...FAILED, count: 1_200 }} | mail-sor-f41.google.com | ${{ code: "add_service", spf_term: `include:${GOOGLE}` }}
    | Set up DKIM for example.com at Google Workspace (selector google), and add include:_spf.google.com to the SPF record.
  a service that only DKIM aligns, by its signature | ${{ ...FAILED, auth: AUTH }} | ${undefined} | ${{ code: "add_service_dkim" }}
    | Set up DKIM for example.com at SendGrid (selector s1, s2): SPF cannot align its mail.
  mail that is aligned by SPF alone | ${{ dkim: "fail" }} | ${undefined} | ${{ code: "add_dkim" }} | Sign this mail with DKIM as example.com
  forwarded mail | ${{ ...FAILED, reasons: ["forwarded"] }} | ${undefined} | ${{ code: "forwarded" }} | receivers report this mail as forwarded
  mail that passes as another domain | ${{ ...FAILED, auth: "<spf><domain>bounce.firm.example</domain><result>pass</result></spf>" }} | ${undefined}
    | ${{ code: "signs_as_other" }} | its mail passes only as bounce.firm.example
  mail that passes as another domain from a host of a service | ${{ ...FAILED, auth: "<spf><domain>gmail.com</domain><result>pass</result></spf>" }} | mail-sor-f41.google.com
    | ${{ code: "signs_as_other" }} | its mail passes only as gmail.com
  mail whose ARC chain the receiver trusts | ${{ ...FAILED, reasons: ["local_policy</type><comment>arc=pass as[1].d=f.example</comment><type>"] }} | ${undefined} | ${{ code: "forwarded" }} | receivers report this mail as forwarded
`;

test.each(SOURCES)(
  "the report summary advises on %s",
  async (_what, record, host, advice, text) => {
    const ctx = await given();
    const zone: Zone = host
      ? { "1.2.0.192.in-addr.arpa": { PTR: [host] }, [host]: { A: ["192.0.2.1"] } }
      : {};
    const dns = createZoneDns(zone);
    const world = { ...ctx.world, names: { ...ctx.world.names, dns } };
    await uploadReport(world, ctx.liveKey, { records: [record] });

    const { data } = await ask(world, ctx.liveKey);

    const [source] = data.dmarc.sources;
    expect(source.host_name).toBe(host);
    expect(source.advice).toEqual({ ...advice, text: expect.stringContaining(text) });
  },
);

test("the report summary calls a sender that signs most of its mail partly aligned, and not another domain", async () => {
  const { world, liveKey: key } = await given();
  await uploadReport(world, key, { records: [{ count: 9 }, FAILED] });

  const { data } = await ask(world, key);

  expect(data.dmarc.sources[0].advice).toEqual({
    code: "partly_aligned",
    text: "Some of this mail is aligned. If the rest is yours, sign it with DKIM as example.com, too.",
  });
});

test("the report summary omits a host name that does not resolve to the source's address", async () => {
  const ctx = await given();
  const dns = createZoneDns({
    "1.2.0.192.in-addr.arpa": { PTR: ["mail.google.com"] },
    "mail.google.com": { A: ["203.0.113.9"] },
  });
  const world = { ...ctx.world, names: { ...ctx.world.names, dns } };
  await uploadReport(world, ctx.liveKey, { records: [FAILED] });

  const { data } = await ask(world, ctx.liveKey);

  expect(data.dmarc.sources[0].host_name).toBeUndefined();
  expect(data.dmarc.sources[0].provider).toBeUndefined();
  expect(data.dmarc.providers).toMatchObject([{ sources: 1, messages: 1 }]);
});

test("the pages of the report summary list each source once, the largest first", async () => {
  const { world, liveKey: key } = await given();
  const records = Array.from({ length: 7 }, (_, at) => ({
    ip: `192.0.2.${at}`,
    count: 1 + (at % 3),
  }));
  await uploadReport(world, key, { records });

  const ips: string[] = [];
  let query: Record<string, string> = { limit: "3" };
  for (let page = 0; page < 3; page++) {
    const { data } = await ask(world, key, query);
    ips.push(...data.dmarc.sources.map(({ ip }: { ip: string }) => ip));
    expect(data.dmarc.source_count).toBe(7);
    query = { limit: "3", offset: data.next_offset };
  }

  expect(ips).toEqual([2, 5, 1, 4, 0, 3, 6].map((at) => `192.0.2.${at}`));
  expect(query["offset"]).toBeUndefined();
});

test("the report summary groups sources by service, by the domain of their hosts and by network, with one advice each", async () => {
  const ctx = await given();
  const named = (ip: string, host: string): Zone => ({
    [`${ip.split(".").toReversed().join(".")}.in-addr.arpa`]: { PTR: [host] },
    [host]: { A: [ip] },
  });
  const dns = createZoneDns({
    ...named("192.0.2.1", "mail-sor-f41.google.com"),
    ...named("192.0.2.2", "mail-sor-f42.google.com"),
    ...named("198.51.100.1", "a.out.firm.co.uk"),
    ...named("198.51.100.2", "b.firm.co.uk"),
  });
  const world = { ...ctx.world, names: { ...ctx.world.names, dns } };
  const records = [
    { ip: "192.0.2.1", count: 900 },
    { ...FAILED, ip: "192.0.2.2", count: 100 },
    { ip: "198.51.100.1", count: 80 },
    { ip: "198.51.100.2", count: 9 },
    { ...FAILED, ip: "203.0.113.8", count: 7 },
    { ...FAILED, ip: "203.0.113.9", count: 1 },
    { ...FAILED, ip: "2001:db8:1:2::3", count: 3 },
  ];
  await uploadReport(world, ctx.liveKey, { records });

  const { data } = await ask(world, ctx.liveKey);

  const { senders } = data.dmarc;
  expect(
    senders.map(({ name, sources, messages, advice }: any) => [
      name,
      sources,
      messages,
      advice.code,
      advice.spf_term,
    ]),
  ).toEqual([
    ["Google Workspace", 2, 1_000, "partly_aligned", undefined],
    ["firm.co.uk", 2, 89, "aligned", undefined],
    ["203.0.113.0/24", 2, 8, "unknown_source", undefined],
    ["2001:db8:1::/48", 1, 3, "unknown_source", "ip6:2001:db8:1:2::3"],
  ]);
  expect(senders[0]).toMatchObject({ provider: "google", aligned_share: 0.9 });
  expect(senders[2].advice.text).toBe(
    "If this sender is yours, add its addresses to SPF and sign with DKIM; otherwise a strict policy stops it.",
  );
});

test("the report summary of an empty window contains the days with stored reports, and adds up the window that ends with them", async () => {
  const { world, liveKey: key } = await given();
  await uploadReport(world, key, { daysBefore: 2_000 });
  await uploadReport(world, key, { daysBefore: 2_010, records: [{ count: 4 }] });
  await uploadReport(world, key, { daysBefore: 1_999, domain: "other.example" });

  const { data: empty } = await ask(world, key);
  const { data: shown } = await ask(world, key, { days: "7", to: empty.stored.to });

  expect(empty).toMatchObject({
    stored: { from: "2021-05-21", to: "2021-05-31" },
    dmarc: { reports: 0 },
  });
  expect(shown).toMatchObject({ from: "2021-05-25", to: "2021-05-31", dmarc: { messages: 1 } });
  const { data: before } = await ask(world, key, { days: "400", to: "2021-05-30" });
  expect(before.dmarc.messages).toBe(4);
});

test("the report summary adds up TLS reports by policy, by day and by type of failure", async () => {
  const { world, liveKey: key } = await given();
  const range = (day: string) => ({
    "date-range": { "start-datetime": `${day}T00:00:00Z`, "end-datetime": `${day}T23:59:59Z` },
    "report-id": day,
  });
  const sound = createTlsPolicy({
    summary: { "total-successful-session-count": 7, "total-failure-session-count": 0 },
    "failure-details": [],
  });
  await uploadFile(world, key, JSON.stringify(createTlsReport(range("2026-11-20"))));
  await uploadFile(
    world,
    key,
    JSON.stringify(createTlsReport({ ...range("2026-11-19"), policies: [sound] })),
  );

  const { data } = await ask(world, key);

  expect(data.tls).toEqual({
    reports: 2,
    succeeded: 107,
    failed: 3,
    policies: [
      {
        policy: "sts",
        succeeded: 107,
        failed: 3,
        failures: [{ type: "certificate-expired", sessions: 3 }],
      },
    ],
    days: [
      { day: "2026-11-19", succeeded: 7, failed: 0 },
      { day: "2026-11-20", succeeded: 100, failed: 3 },
    ],
  });
});

test("the report summary keeps every sum of a report with more addresses than an item holds, and names no service for the sum of the smallest", async () => {
  const { world, liveKey: key } = await given();
  const records = Array.from({ length: 5_000 }, (_, at) => ({
    ip: `198.18.${at >> 8}.${at & 255}`,
    count: at + 1,
    auth: `<spf><domain>mcsv.net</domain><result>pass</result></spf><dkim><domain>${`${(at * 7_919).toString(36)}-`.repeat(12)}a.example</domain><result>pass</result></dkim>`,
  }));
  await uploadReport(world, key, { records });

  const { data } = await ask(world, key, { limit: "200" });

  expect(data.dmarc).toMatchObject({ messages: 12_502_500, aligned: 12_502_500 });
  expect(data.dmarc.source_count).toBeLessThanOrEqual(2_001);
  expect(data.dmarc.sources[0]).not.toHaveProperty("ip");
  expect(data.dmarc.sources[0]).not.toHaveProperty("provider");
});

test.each([
  ["days", "0", "days: must be a whole number from 1 up"],
  ["to", "2026-02-30", "to: must be a date such as 2026-11-21"],
  ["limit", "many", "limit: must be a whole number from 1 up"],
  ["offset", "made-up", "offset: must be a next_offset of this list"],
  ["page", "2", "page: is not a known field"],
])("the report summary with %s=%s answers 400", async (name, value, message) => {
  const { world, liveKey: key } = await given();

  const { statusCode, error } = await ask(world, key, { [name]: value });

  expect([statusCode, error.message]).toEqual([400, expect.stringContaining(message)]);
});

const ROUTE = "GET /v1/deliverability/domains";
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
