import type { Dns } from "@mailproof/mail/dns/dns";
import { expect, test } from "vitest";
import { anyDnsLookups, withDnsLookups } from "../app/dns-lookups.ts";
import { withTable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import {
  listMoves,
  listOutboxEvents,
  listStoredItems,
  readCredits,
  thenConsistent,
} from "../app/ledger.ts";
import { send, whenChecked } from "../app/send.ts";
import { createZoneDns } from "../app/zone.ts";
import { asRows } from "../runner/as-rows.ts";

const DAY_MS = 86_400_000;
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** A world in which every DNS question is recorded. */
const withCounting = async () => {
  const ctx = await given({ balance: 100 });
  let questions = 0;
  const dns: Dns = (type, name) => {
    questions++;
    return anyDnsLookups.dns(type, name);
  };
  const world = { ...ctx.world, names: { ...anyDnsLookups, dns, listDns: dns } };
  return { ...ctx, world, questions: () => questions };
};

test("a check of a faultless domain answers 200 with every section of the contract and costs 10 credits", async () => {
  const ctx = await given({ balance: 25 });

  const { statusCode, data } = await whenChecked(ctx.world, ctx.liveKey);

  expect(statusCode).toBe(200);
  expect(data).toMatchObject({
    domain: "example.com",
    score: 100,
    grade: "A",
    checked_at: "2026-11-21T00:00:00.000Z",
    check_id: expect.stringMatching(UUID),
    model_version: "3",
    dns: {
      mx_records: [{ priority: 10, host: "mx.example.com", ip: "192.0.2.1" }],
      has_valid_mx: true,
      mx_score: 100,
    },
    authentication: {
      spf: { status: "pass", record: "v=spf1 mx ip4:192.0.2.1 -all", score: 100, issues: [] },
      dkim: { status: "pass", selectors_found: ["default"], score: 100 },
      dmarc: { status: "pass", policy: "reject", score: 100, issues: [] },
    },
    reputation: {
      score: 100,
      blacklists_checked: 1,
      blacklists_inconclusive: 0,
      blacklists_skipped: 0,
      blacklists_total: 1,
      blacklists_listed: 0,
      listed_on: [],
    },
    server: {
      accepts_mail: null,
      response_time_ms: null,
      supports_tls: null,
      tls_version: null,
      reverse_dns_status: "not_checked",
    },
    spam_assessment: { score: 0, spam_likelihood: "low" },
    credits_used: 10,
    credits_remaining: 15,
    cached: false,
  });
  expect(data).not.toHaveProperty("idempotent_replay");
  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
});

test("a check lists each fault with its lost points, and its recommendations by the points they regain", async () => {
  const { world, liveKey } = await given({ balance: 25 });

  const { data } = await whenChecked(world, liveKey, { domain: "nodmarc.com" });

  expect(data.authentication.dmarc).toMatchObject({
    status: "missing",
    record: null,
    policy: null,
    issues: [{ id: "DMARC_MISSING", cost_points: expect.any(Number) }],
  });
  expect(data.score_parts.components).toContainEqual({ component: "dmarc", weight: 20, score: 0 });
  expect(data.recommendations[0]).toMatchObject({ issues: ["DMARC_MISSING"] });
  const regained = data.recommendations.map((one: any) => one.points_regained);
  expect(regained).toEqual(regained.toSorted((a: number, b: number) => b - a));
});

test("a recommendation contains its record, the replaced record and the resulting score", async () => {
  const { world, liveKey } = await given({ balance: 30 });

  const { data } = await whenChecked(world, liveKey, { domain: "weak.com" });
  const find = (id: string) => data.recommendations.find((one: any) => one.id === id);

  expect(find("dmarc_rua")).toMatchObject({
    record: {
      name: "_dmarc.weak.com",
      type: "TXT",
      value: "v=DMARC1; p=none; rua=mailto:dmarc@weak.com",
    },
    replaces: [{ name: "_dmarc.weak.com", type: "TXT", value: "v=DMARC1; p=none" }],
    note: "Create the mailbox dmarc@weak.com for the reports first, or name another one.",
  });
  expect(find("mta_sts").file.url).toBe("https://mta-sts.weak.com/.well-known/mta-sts.txt");
  expect(find("bimi").record.open).toHaveLength(2);
  expect(data.after_records.score).toBe(data.score + find("dmarc_rua").record_points);
});

test("a report record contains the address at which this service receives the account's reports", async () => {
  const { world, liveKey: key } = await given({ balance: 30 });
  const own = createZoneDns({
    "mail.example.com": { MX: ["10 mx.example.com"] },
    "*._report._dmarc.mail.example.com": { TXT: ["v=DMARC1"] },
  });
  const dns: Dns = (type, name) =>
    name.endsWith("mail.example.com") ? own(type, name) : anyDnsLookups.dns(type, name);

  const { data } = await whenChecked({ ...world, names: { ...anyDnsLookups, dns } }, key, {
    domain: "weak.com",
  });
  const reports = await send(world, "GET /v1/deliverability/domains/weak.com/reports", { key });

  const { value } = data.recommendations.find((one: any) => one.id === "dmarc_rua").record;
  expect(value).toBe(`v=DMARC1; p=none; rua=mailto:${reports.data.reports_address}`);
});

test("a check with a sending address looks up its host name and its blocklist entries", async () => {
  const { world, testKey } = await given();

  const { data } = await whenChecked(world, testKey, {
    domain: "listed.com",
    sending_ip: "192.0.2.77",
  });

  expect(data).toMatchObject({
    sending_ip: "192.0.2.77",
    server: { reverse_dns: "out.listed.com", reverse_dns_confirmed: true },
    authentication: { spf: { result_for_sending_ip: "pass" } },
    reputation: { blacklists_listed: 1, listed_on: [{ listed: "192.0.2.77" }] },
  });
});

test("a check marks a failed MX look-up as error and omits it from the response and the score", async () => {
  const { world, liveKey } = await given({ balance: 25 });
  const dns: Dns = async (type, name) =>
    type === "MX" ? { kind: "timeout" } : anyDnsLookups.dns(type, name);

  const { data } = await whenChecked({ ...world, names: { ...anyDnsLookups, dns } }, liveKey);

  expect(data.dns.status).toBe("error");
  expect(data.dns).not.toHaveProperty("has_valid_mx");
  expect(data.dns).not.toHaveProperty("mx_score");
  expect(data.score_parts.components.map(({ component }: any) => component)).not.toContain("dns");
});

test.each(asRows`
  no domain | ${{}} | domain
  a domain that is a number | ${{ domain: 5 }} | domain
  an empty domain | ${{ domain: "" }} | domain
  a URL with an empty host | ${{ domain: "https:///example.com" }} | domain
  an email address | ${{ domain: "ann@example.com" }} | domain
  a name of one label | ${{ domain: "localhost" }} | domain
  an IP address | ${{ domain: "192.0.2.1" }} | domain
  a null sending_ip | ${{ domain: "example.com", sending_ip: null }} | sending_ip
  a blank sending_ip | ${{ domain: "example.com", sending_ip: " " }} | sending_ip
  an empty sending_ip | ${{ domain: "example.com", sending_ip: "" }} | sending_ip
  a host name as sending_ip | ${{ domain: "example.com", sending_ip: "mx.x.com" }} | sending_ip
  an IPv6 sending_ip | ${{ domain: "example.com", sending_ip: "2001:db8::1" }} | sending_ip
  an IPv4-mapped sending_ip | ${{ domain: "example.com", sending_ip: "::ffff:192.0.2.1" }} | sending_ip
  a sending_ip with leading zeros | ${{ domain: "example.com", sending_ip: "192.0.2.01" }} | sending_ip
  a sending_ip with an octet of 256 | ${{ domain: "example.com", sending_ip: "192.0.2.256" }} | sending_ip
  a sending_ip with three octets | ${{ domain: "example.com", sending_ip: "192.0.2" }} | sending_ip
  a refresh that is text | ${{ domain: "example.com", refresh: "true" }} | refresh
  a refresh that is null | ${{ domain: "example.com", refresh: null }} | refresh
  an unknown field | ${{ domain: "example.com", sendingIp: "192.0.2.1" }} | sendingIp
`)(
  "a check with %s answers 400 before any look-up, states the field and charges nothing",
  async (_, body, field) => {
    const ctx = await withCounting();
    const before = listStoredItems(ctx);

    const refused = await whenChecked(ctx.world, ctx.liveKey, body);

    expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
    expect(refused.error.details).toMatchObject([{ field }]);
    expect(refused.error.message).toMatch(/Nothing was charged\.$/);
    expect(ctx.questions()).toBe(0);
    expect(listStoredItems(ctx)).toEqual(before);
  },
);

test("repeating a check within 24 hours costs nothing, even with an empty balance", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey, later } = ctx;
  const first = await whenChecked(world, liveKey);
  later(DAY_MS - 1);

  const again = await whenChecked(world, liveKey);

  expect(again).toMatchObject({ statusCode: 200 });
  expect(again.data).toEqual({
    ...first.data,
    credits_used: 0,
    credits_remaining: 0,
    cached: true,
  });
  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
});

test("repeating a check after 24 hours buys a new check", async () => {
  const { world, liveKey, later } = await given({ balance: 20 });
  const first = await whenChecked(world, liveKey);
  later(DAY_MS);

  const again = await whenChecked(world, liveKey);

  expect(again.data).toMatchObject({ cached: false, credits_used: 10, credits_remaining: 0 });
  expect(again.data.check_id).not.toBe(first.data.check_id);
});

test.each([
  ["another domain", { domain: "example.org" }],
  ["another sending address", { domain: "example.com", sending_ip: "192.0.2.9" }],
  ["refresh", { domain: "example.com", refresh: true }],
])("a check request with %s buys a new check within the day", async (_, body) => {
  const { world, liveKey } = await given({ balance: 20 });
  await whenChecked(world, liveKey);

  expect((await whenChecked(world, liveKey, body)).data).toMatchObject({
    cached: false,
    credits_used: 10,
  });
});

test("the cache returns the newest check after a refresh", async () => {
  const { world, liveKey } = await given({ balance: 20 });
  await whenChecked(world, liveKey);
  const fresh = await whenChecked(world, liveKey, { domain: "example.com", refresh: true });

  const again = await whenChecked(world, liveKey);

  expect(again.data).toMatchObject({ cached: true, check_id: fresh.data.check_id });
});

test("a check answers 402 without a look-up when the credits are too few", async () => {
  const ctx = await withCounting();
  const { world, liveKey } = ctx;
  for (let n = 0; n < 10; n++) await whenChecked(world, liveKey, { domain: `x${n}.com` });
  const questionsBefore = ctx.questions();

  const refused = await whenChecked(world, liveKey);

  expect(refused).toMatchObject({
    statusCode: 402,
    error: { code: "INSUFFICIENT_CREDITS", details: { needed: 10, available: 0 } },
  });
  expect(ctx.questions()).toBe(questionsBefore);
});

test("a check of a domain that does not exist returns a report and costs credits", async () => {
  const { world, liveKey } = await given({ balance: 10 });

  const { data } = await whenChecked(world, liveKey, { domain: "nxdomain.com" });

  expect(data).toMatchObject({ grade: "F", credits_used: 10, dns: { has_valid_mx: false } });
});

test("a check with refresh does not read the checks of the day", async () => {
  const ctx = await given({ balance: 10 });
  let reads = 0;
  const world = withTable(ctx, {
    get: (key) => {
      if (key.pk.startsWith("LATEST#")) reads++;
      return ctx.table.get(key);
    },
  });

  await whenChecked(world, ctx.liveKey, { domain: "example.com", refresh: true });

  // What is read is what the outcome is compared with, once the check is done.
  expect(reads).toBe(1);
});

test("two simultaneous checks of a domain are both stored and charged, and the second refers to the first", async () => {
  const ctx = await given({ balance: 20 });
  const body = { domain: "nodmarc.com", refresh: true };

  const both = await Promise.all([
    whenChecked(ctx.world, ctx.liveKey, body),
    whenChecked(ctx.world, ctx.liveKey, body),
  ]);

  expect(both.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
  expect(listOutboxEvents(ctx).filter((type) => type === "dmarc.failed")).toHaveLength(1);
  expect(await readCredits(ctx)).toMatchObject({ spent: 20, held: 0 });
  await thenConsistent(ctx);
});

test("a hundred checks of a domain that end at once are all returned and stored", async () => {
  const ctx = await given({ balance: 1_000 });
  const body = { domain: "example.com", refresh: true };

  const all = await Promise.all(
    Array.from({ length: 100 }, () => whenChecked(ctx.world, ctx.liveKey, body)),
  );

  expect(new Set(all.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  expect(await readCredits(ctx)).toMatchObject({ spent: 1_000, held: 0 });
});

/** A domain of which some questions are not answered, in time or at all, and the rest is not there. */
const failing =
  (...types: readonly string[]): Dns =>
  (type, name) =>
    types.includes(`${type} ${name}`)
      ? Promise.resolve({ kind: "timeout" })
      : createZoneDns({ "example.com": { NS: ["ns1.example.com", "ns2.example.com"] } })(
          type,
          name,
        );

const MX = "MX example.com";
const SPF = "TXT example.com";
const DMARC = "TXT _dmarc.example.com";

const setup = async (...types: readonly string[]) => {
  const ctx = await given({ balance: 20 });
  return { ...ctx, world: withDnsLookups(ctx.world, failing(...types)) };
};

test("a grade without MX and SPF shows low confidence, with no recommendation about either", async () => {
  const ctx = await setup(MX, SPF, "A example.com.bl.test");
  const { data } = await whenChecked(ctx.world, ctx.liveKey);

  expect(data).toMatchObject({
    score: 0,
    grade: "F",
    confidence: "low",
    missing_parts: ["dns", "spf", "reputation"],
    dns: { status: "error" },
    authentication: { spf: { status: "error" } },
  });
  expect(data.recommendations.map(({ id }: { id: string }) => id)).toEqual([
    "add_dkim",
    "add_dmarc",
    "bimi",
  ]);
  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
});

test("a grade shows medium confidence when less than half of the score's weight is missing", async () => {
  const { world, liveKey } = await setup(DMARC);
  const { data } = await whenChecked(world, liveKey);

  expect(data).toMatchObject({
    confidence: "medium",
    missing_parts: expect.arrayContaining(["dmarc"]),
  });
  const ids = data.recommendations.map(({ id }: { id: string }) => id);
  expect(ids).toContain("add_spf");
  expect(ids.filter((id: string) => /dmarc|bimi/.test(id))).toEqual([]);
});

test("a grade from every part shows high confidence", async () => {
  const { world, testKey } = await given();
  const plain = await whenChecked(world, testKey);
  const withIp = await whenChecked(world, testKey, {
    domain: "weak.com",
    sending_ip: "192.0.2.1",
  });

  for (const { data } of [plain, withIp])
    expect(data).toMatchObject({ confidence: "high", missing_parts: [] });
});

test("the history, a stored check and a monitor show the same confidence", async () => {
  const { world, liveKey: key } = await setup(MX, SPF, "A example.com.bl.test");
  const { data } = await whenChecked(world, key);
  const read = await send(world, `GET /v1/deliverability/checks/${data.check_id}`, { key });
  const list = await send(world, "GET /v1/deliverability/checks", { key });

  expect(read.data).toMatchObject({ confidence: "low", missing_parts: data.missing_parts });
  expect(list.data.checks[0]).toMatchObject({ grade: "F", confidence: "low" });
});
