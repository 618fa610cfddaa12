import { verify } from "@mailproof/core/verify/verify";
import { expect, test } from "vitest";
import { withDnsLookups } from "../app/dns-lookups.ts";
import { whenQuiet, whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { listMoves, listStoredItems } from "../app/ledger.ts";
import { send, whenChecked, whenVerified } from "../app/send.ts";
import {
  createProcessRequest,
  givenUpload,
  readJob,
  whenBatched,
  whenFiled,
} from "../things/jobs.ts";

/** Ways to write one domain. */
const SPELLINGS = [
  "bücher.example",
  " BÜCHER.example. ",
  "xn--bcher-kva.example",
  "https://Bücher.example/kontakt?x=1",
  "http://ann:secret@xn--bcher-kva.example.:8080/#top",
  "bücher。example",
];
const BOTH = { domain: "xn--bcher-kva.example", domain_unicode: "bücher.example" };

test.each(SPELLINGS)("every route with a domain reads %j as the same domain", async (typed) => {
  const { world, testKey: key } = await given();
  const call = (route: string, body?: object) => send(world, route, { key, body });

  const check = await whenChecked(world, key, { domain: typed });
  const read = await call(`GET /v1/deliverability/checks/${check.data.check_id}`);
  const list = await call("GET /v1/deliverability/checks");
  const monitor = await call("POST /v1/deliverability/monitors", { domain: typed });
  const monitors = await call("GET /v1/deliverability/monitors");
  const found = await call("POST /v1/find", {
    first_name: "Ann",
    last_name: "Lee",
    domain: typed,
  });
  const activity = await call(`GET /v1/activity/domain/${encodeURIComponent(typed)}`);

  expect(
    [check, read, list, monitor, monitors, found, activity].map((one) => one.statusCode),
  ).toEqual([200, 200, 200, 201, 200, 200, 200]);
  for (const data of [
    check.data,
    read.data,
    list.data.checks[0],
    monitor.data,
    monitors.data.monitors[0],
    found.data,
    activity.data,
  ])
    expect(data).toMatchObject(BOTH);
  expect(found.data.email).toMatch(/@xn--bcher-kva\.example$/);
});

test("the cache and an Idempotency-Key treat two spellings of a domain as one", async () => {
  const ctx = await given({ balance: 20 });
  const { world, liveKey: key } = ctx;
  const first = await whenChecked(world, key, { domain: "https://Example.com/" }, "k");
  const cached = await whenChecked(world, key, { domain: "example.com." });
  const replayed = await whenChecked(world, key, { domain: " example.com", refresh: false }, "k");

  expect(cached.data).toMatchObject({ cached: true, check_id: first.data.check_id });
  expect(replayed.data).toMatchObject({ check_id: first.data.check_id, credits_used: 0 });
  expect(listMoves(ctx)).toEqual(["hold 10", "settle 10"]);
});

test("the service keeps one monitor for a domain, however the domain is written", async () => {
  const { world, testKey: key } = await given();
  const add = (domain: string) =>
    send(world, "POST /v1/deliverability/monitors", { key, body: { domain } });

  const [first, second] = [await add("https://example.com/"), await add("EXAMPLE.com.")];

  expect(second).toMatchObject({ statusCode: 200, data: { monitor_id: first.data.monitor_id } });
});

test.each(["ann@example.com", "https://192.0.2.1/", "https:///x", "localhost:8787", "https://"])(
  "%s answers 400 on every route with a domain and stores nothing",
  async (typed) => {
    const ctx = await given({ balance: 20 });
    const { world, liveKey: key } = ctx;
    const before = listStoredItems(ctx);
    const call = (route: string, body?: object) => send(world, route, { key, body });

    const all = [
      await whenChecked(world, key, { domain: typed }),
      await call("POST /v1/deliverability/monitors", { domain: typed }),
      await call("POST /v1/find", { first_name: "Ann", last_name: "Lee", domain: typed }),
      await call(`GET /v1/activity/domain/${encodeURIComponent(typed)}`),
    ];

    for (const refused of all) {
      expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
      expect(refused.error.details).toEqual([
        { field: "domain", message: "must be a domain name such as example.com" },
      ]);
    }
    expect(listStoredItems(ctx)).toEqual(before);
  },
);

test("a check looks up a www. name as written, and each response states the domain without it", async () => {
  const { world, testKey: key } = await given();
  const domain = "www.example.com";
  const words = /www\.example\.com is the name of a website.*example\.com/;

  const check = await whenChecked(world, key, { domain });
  const monitor = await send(world, "POST /v1/deliverability/monitors", { key, body: { domain } });
  const body = { first_name: "Ann", last_name: "Lee", domain };
  const found = await send(world, "POST /v1/find", { key, body });
  const activity = await send(world, `GET /v1/activity/domain/${domain}`, { key });

  expect(check.data.domain).toBe(domain);
  expect(check.data.recommendations).toContainEqual({
    id: "www_name",
    severity: "info",
    points_regained: 0,
    issues: ["WWW_NAME"],
    text: "www.example.com is the name of a website. Check example.com, where mail is usually sent from.",
  });
  for (const { data } of [monitor, found, activity]) expect(data.message).toMatch(words);
});

test("the response about any other name contains no www. message", async () => {
  const { world, testKey: key } = await given();
  const check = await whenChecked(world, key, { domain: "wwwx.example.com" });
  const activity = await send(world, "GET /v1/activity/domain/example.com", { key });

  expect(check.data.recommendations.map(({ id }: { id: string }) => id)).not.toContain("www_name");
  expect(activity.data).not.toHaveProperty("message");
});

test.each([
  ["private", "10.1.2.3"],
  ["private", "172.16.0.1"],
  ["private", "192.168.1.1"],
  ["shared", "100.64.0.1"],
  ["loopback", "127.0.0.1"],
  ["link-local", "169.254.1.1"],
  ["documentation", "203.0.113.7"],
  ["multicast", "224.0.0.1"],
  ["reserved", "240.0.0.1"],
  ["broadcast", "255.255.255.255"],
  ["unspecified", "0.0.0.0"],
])(
  "a check or monitor with a %s sending_ip (%s) answers 400 before any charge",
  async (_, sending_ip) => {
    const ctx = await given({ balance: 20 });
    const before = listStoredItems(ctx);
    const body = { domain: "example.com", sending_ip };

    for (const key of [ctx.liveKey, ctx.testKey])
      for (const refused of [
        await whenChecked(ctx.world, key, body, "k"),
        await send(ctx.world, "POST /v1/deliverability/monitors", { key, body }),
      ])
        expect(refused).toMatchObject({
          statusCode: 400,
          error: {
            code: "INVALID_REQUEST",
            message: expect.stringMatching(/private or reserved address.*Nothing was charged\.$/),
            details: [{ field: "sending_ip" }],
          },
        });
    expect(listStoredItems(ctx)).toEqual(before);
  },
);

test("a live key may send a public sending_ip, and only a test key the documented reserved one", async () => {
  const { world, liveKey, testKey } = await given({ balance: 20 });
  const over = withDnsLookups(world, { "example.com": { TXT: ["v=spf1 -all"] } });
  const check = async (key: string, sending_ip: string) =>
    (await whenChecked(over, key, { domain: "example.com", sending_ip })).statusCode;

  expect(await check(liveKey, "8.8.8.8")).toBe(200);
  expect(await check(liveKey, "192.0.2.1")).toBe(400);
  expect(await check(testKey, "192.0.2.1")).toBe(200);
});

test("a test key's result for a typo domain is risky with the suggestion, and not disposable", async () => {
  const { world, testKey } = await given();

  const { data } = await send(world, "POST /v1/verify", {
    key: testKey,
    body: { email: "catchall@gmial.com" },
  });

  expect(data).toMatchObject({
    status: "risky",
    reason: "typo_domain",
    flags: { disposable: false },
    ai: { typo_suggestion: "catchall@gmail.com", catch_all_confidence: expect.any(Number) },
  });
});

test("a result without a DNS reply lists the unknown facts and states the reason", async () => {
  const ctx = await given({ balance: 10 });
  // Without a later attempt, which would find the same out.
  const options = { max_wait_minutes: 0 };
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["ann@dnsfail.com"], options });
  await whenWorked(ctx);

  const [row] = (await readJob(ctx)).results;

  expect(row).toMatchObject({ status: "unknown", reason: "dns_inconclusive" });
  expect(row.verification).toEqual({
    syntax_valid: true,
    domain_exists: false,
    mx_found: false,
    smtp_check: false,
    mailbox_exists: false,
    catch_all: false,
    not_known: ["domain_exists", "mx_found", "mailbox_exists", "catch_all"],
  });
});

// One address, as people write it, is the same address at every entrance.

const WRITTEN = [
  "Ann Lee <ann@x.com>",
  '"Lee, Ann" <ann@x.com>',
  "<ann@x.com>",
  "mailto:ann@x.com?subject=hi",
  " ann@x.com; ",
  "\u200Bann@x.com\u200B",
];

const setup = () => given({ balance: 100 });
type Ctx = Awaited<ReturnType<typeof setup>>;

const readFirst = async (ctx: Ctx, id: string) => {
  await whenQuiet(ctx);
  const { results } = await readJob(ctx, id);
  return results?.[0];
};

const ENTRANCES: readonly (readonly [
  string,
  (ctx: Ctx, text: string) => Promise<object | undefined>,
])[] = [
  [
    "POST /v1/verify",
    async ({ world, liveKey }, email) => (await whenVerified(world, liveKey, { email })).data,
  ],
  [
    "POST /v1/verify/batch",
    async (ctx, email) => {
      const { data } = await whenBatched(ctx.world, ctx.liveKey, { emails: [email] });
      return readFirst(ctx, data.job_id);
    },
  ],
  [
    "a file",
    async (ctx, email) => {
      const content = `email\n"${email.replaceAll('"', '""')}"\n`;
      const fileKey = await givenUpload(ctx, ctx.liveKey, content);
      const { data } = await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey));
      return readFirst(ctx, data.job_id);
    },
  ],
  [
    "the library",
    ({ world: { engine } }, email) =>
      verify(engine, email, { deepVerify: true, includeAi: false, includeEvidence: false }),
  ],
];

test.each(ENTRANCES)("%s finds the address in text that people write", async (_name, enter) => {
  const ctx = await setup();

  for (const text of WRITTEN)
    expect(await enter(ctx, text), `${text}`).toMatchObject({
      email: "ann@x.com",
      status: "valid",
    });
});

test("a form finds the address in text that people write", async () => {
  const ctx = await setup();

  for (const email of WRITTEN) {
    const { data } = await send(ctx.world, "POST /v1/verify/form", {
      key: ctx.liveKey,
      body: { email },
    });
    expect(data, `${email}`).toMatchObject({ email: "ann@x.com" });
  }
});

test.each(ENTRANCES.filter(([name]) => name === "POST /v1/verify" || name === "the library"))(
  "%s reads two addresses as invalid",
  async (_name, enter) => {
    const ctx = await setup();

    const found = await enter(ctx, "ann@x.com, bob@x.com");

    expect(found).toMatchObject({ status: "invalid", email: "ann@x.com, bob@x.com" });
  },
);
