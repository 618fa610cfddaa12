import { createHash } from "node:crypto";
import { SANDBOX_MAILBOXES } from "@mailproof/core/verify/sandbox";
import { toPublicJwk } from "@mailproof/lab/issuer";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { rejectDown, withSlowEngine, withTable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { listMoves, readCredits, thenConsistent } from "../app/ledger.ts";
import { send, type TestResponse, whenVerified } from "../app/send.ts";
import { EMAIL, givenIssuer, ISSUER, KEYS_URL, NONCE, ORIGIN } from "../things/control.ts";
import { givenForm, ROUTE, whenCreated } from "../things/forms.ts";

test("creating a public key answers 201 with the prefix mp_pub_, its origins and its daily limit", async () => {
  const { world, liveKey } = await given();

  const { statusCode, data } = await whenCreated(world, liveKey);

  expect(statusCode).toBe(201);
  expect(data.key).toMatch(/^mp_pub_[0-9A-Za-z]{28}$/);
  expect(data).toMatchObject({
    scopes: [],
    public: { origins: [ORIGIN], daily_limit: 1_000 },
    hint: expect.stringMatching(/^mp_pub_…/),
  });
});

test.each([
  ["public.origins.0", { public: { origins: ["https://shop.example/"] } }],
  ["public.origins.0", { public: { origins: ["https://shop.example/form"] } }],
  ["public.origins.0", { public: { origins: ["https://Shop.example"] } }],
  ["public.origins.0", { public: { origins: ["https://shop.example:443"] } }],
  ["public.origins.0", { public: { origins: ["http://shop.example"] } }],
  ["public.origins.0", { public: { origins: ["https://user@shop.example"] } }],
  ["public.origins.0", { public: { origins: ["*"] } }],
  ["public.origins.0", { public: { origins: ["null"] } }],
  ["public.origins", { public: { origins: [] } }],
  ["public.daily_limit", { public: { origins: [ORIGIN], daily_limit: 0 } }],
  ["scopes", { scopes: ["account:read"] }],
  ["networks", { networks: ["192.0.2.0/24"] }],
])(
  "creating a public key with a wrong %s in %o answers 400 and states the field",
  async (field, body) => {
    const { world, liveKey } = await given();

    const { statusCode, error } = await whenCreated(world, liveKey, body);

    expect([statusCode, error.details[0].field]).toEqual([400, field]);
  },
);

test.each(["http://localhost:5173", "http://127.0.0.1:8080", "https://xn--bcher-kva.example:8443"])(
  "a public key accepts the origin %s",
  async (origin) => {
    const { world, liveKey } = await given();

    expect((await whenCreated(world, liveKey, { public: { origins: [origin] } })).statusCode).toBe(
      201,
    );
  },
);

test.each([
  ["another origin", "https://shop.example.evil.example"],
  ["the same host without its scheme", "shop.example"],
  ["another port", "https://shop.example:8443"],
  ["plain http", "http://shop.example"],
  ["the null origin of a sandboxed frame or a file", "null"],
  ["two origins", `${ORIGIN} https://other.example`],
  ["the absent origin of a program", null],
])("a form with %s answers 403 and charges nothing", async (_case, origin) => {
  const { ask, ...ctx } = await givenForm();

  const { statusCode, error } = await ask("ann@example.com", { origin });

  expect([statusCode, error.code, error.money]).toEqual([403, "FORBIDDEN", "nothing_charged"]);
  expect(error.message).not.toContain(ORIGIN);
  expect(listMoves(ctx)).toEqual([]);
});

test("a public key opens no other route", async () => {
  const { world, publicKey } = await givenForm();
  const sent = { key: publicKey, headers: { origin: ORIGIN } };

  for (const [route, body] of [
    ["GET /v1/account", undefined],
    ["GET /v1/jobs/job_1", undefined],
    ["GET /v1/api-keys", undefined],
    ["POST /v1/verify", { email: "ann@example.com" }],
  ] as const)
    expect(await send(world, route, { ...sent, body })).toMatchObject({
      statusCode: 403,
      error: { message: expect.stringContaining("POST /v1/verify/form") },
    });
});

test.each([
  ["ann@example.com", "go", null],
  ["ann@dnsfail.example.com", "go", null],
  ["info@example.com", "ask", "role_account"],
  ["ann.example.com", "no", "syntax.no_at"],
  ["ann@nxdomain.example.com", "no", "domain_not_found"],
  ["ann@nullmx.example.com", "no", "null_mx"],
  ["ann@mailinator.com", "no", "listed_disposable"],
  ["ann@[127.0.0.1]", "no", "address_literal"],
  ["ann@[192.0.2.1]", "no", "address_literal"],
])("a form with %s returns the class %s with the reason %s", async (email, formClass, reason) => {
  const { ask } = await givenForm();

  const { statusCode, data } = await ask(email);

  expect([statusCode, data.class, data.reason]).toEqual([200, formClass, reason]);
});

test("the form's job asks the mail server, costs one credit, and the back end reads its result", async () => {
  const { ask, world, liveKey, ...ctx } = await givenForm();

  const { data } = await ask("invalid@example.com");
  expect(data).toEqual({
    email: "invalid@example.com",
    class: "go",
    reason: null,
    did_you_mean: null,
    job_id: "job_1",
    receipt: expect.any(String),
    credits_used: 1,
  });
  await whenWorked({ world, ...ctx });

  const job = await send(world, "GET /v1/jobs/job_1", { key: liveKey });
  expect(job.data.results).toMatchObject([{ status: "invalid", reason: "mailbox_not_found" }]);
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
  await thenConsistent({ ...ctx, world });
});

const readClaims = (receipt: string) =>
  JSON.parse(Buffer.from(receipt.split(".")[1] ?? "", "base64url").toString());

test("the receipt contains the class, the page, the job and the charge, and no verdict", async () => {
  const { ask, world, account } = await givenForm();

  const { data } = await ask(" Info@Example.com ");

  expect(readClaims(data.receipt)).toEqual({
    aud: account,
    jti: "job_1",
    iat: world.now().getTime() / 1_000,
    mode: "live",
    email_sha256: createHash("sha256").update("info@example.com").digest("hex"),
    class: "ask",
    reason: "role_account",
    verified_at: world.now().toISOString(),
    cached: false,
    credits: 1,
    ledger_entry: "job_1.debit.hold",
    lists: expect.any(String),
    origin: ORIGIN,
  });
});

test("a visitor who proves control continues for half a credit, without a session at a mail server", async () => {
  const { world, ...ctx } = await givenForm({ mode: "test" });
  const control = { token: "test-controlled", nonce: "n-1", origin: "https://other.example" };

  const { data } = await send(world, ROUTE, {
    key: ctx.publicKey,
    body: { email: "invalid@example.com", control },
    headers: { origin: ORIGIN },
  });

  expect(data).toMatchObject({ class: "go", job_id: null, control: { status: "controlled" } });
  expect(readClaims(data.receipt)).toMatchObject({
    status: "valid",
    proof: "controlled",
    nonce: "n-1",
    // That of the page, whatever the body says.
    origin: ORIGIN,
  });
  expect((await send(world, "GET /v1/jobs/job_1", { key: ctx.testKey })).statusCode).toBe(404);
});

test("a malformed proof changes only its own code in the response", async () => {
  const { world, publicKey } = await givenForm();
  const control = { token: "x.y.z~k", nonce: "n-1", origin: ORIGIN };

  const { data } = await send(world, ROUTE, {
    key: publicKey,
    body: { email: "ann@example.com", control },
    headers: { origin: ORIGIN },
  });

  expect(data).toMatchObject({ class: "go", job_id: "job_1", control: { status: "malformed" } });
});

test("a form lets the visitor continue when our side fails, and the account pays nothing", async () => {
  const { ask, ...ctx } = await givenForm({ mode: "live" });

  expect((await ask("blocked@example.com")).data.class).toBe("go");
  await whenWorked(ctx);

  expect(await readCredits(ctx)).toMatchObject({ available: 100, held: 0 });
  await thenConsistent(ctx);
});

test("a form reveals nothing about the account's balance", async () => {
  const { ask } = await givenForm({ balance: 0 });

  const { statusCode, error } = await ask("ann@example.com");

  expect([statusCode, error.details]).toEqual([402, undefined]);
  expect(error.message).toBe(
    "The account of this key cannot pay for verifications right now. Nothing was charged.",
  );
});

test("a form lets the visitor continue when DNS does not answer in time", async () => {
  const ctx = await givenForm();
  const findMailHosts = async () => {
    await ctx.world.sleep(60_000);
    return { kind: "domain_not_found", dnsQueries: [] } as const;
  };
  const slow = { ...ctx.world, engine: { ...ctx.world.engine, findMailHosts } };
  const before = ctx.world.now().getTime();

  const { data } = await send(slow, ROUTE, {
    key: ctx.publicKey,
    body: { email: "ann@example.com" },
    headers: { origin: ORIGIN },
  });

  expect(data.class).toBe("go");
  expect(ctx.world.now().getTime() - before).toBe(1_500);
});

test("each visitor receives a share of the key's rate limit, apart from the account's other keys", async () => {
  const { ask, world, liveKey } = await givenForm();
  const askMany = async (count: number, ip: (at: number) => string) => {
    const statuses = new Map<number, number>();
    for (let at = 0; at < count; at++) {
      const { statusCode } = await ask("ann@example.com", { ip: ip(at) });
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    }
    return Object.fromEntries(statuses);
  };

  // A hundred people behind one address are one visitor: their forms go on without an answer.
  expect(await askMany(100, () => "192.0.2.1")).toEqual({ 200: 20, 429: 80 });
  expect(await askMany(30, (at) => `2001:db8:0:1::${at}`)).toEqual({ 200: 20, 429: 10 });
  expect(await askMany(30, () => "::ffff:192.0.2.1")).toEqual({ 429: 30 });
  const other = await ask("ann@example.com", { ip: "192.0.2.2" });
  expect([other.statusCode, other.headers["x-ratelimit-remaining"]]).toEqual([200, "19"]);
  expect((await send(world, "GET /v1/account", { key: liveKey })).statusCode).toBe(200);
});

test("a form answers 503 and charges nothing while the table is down", async () => {
  const { publicKey, world } = await givenForm();
  const down = { ...world, table: { ...world.table, write: rejectDown } };

  const { statusCode, error } = await send(down, ROUTE, {
    key: publicKey,
    body: { email: "ann@example.com" },
    headers: { origin: ORIGIN },
  });

  expect([statusCode, error.money]).toEqual([503, "nothing_charged"]);
});

/** Of each claim that says when and what, its length. */
const VARYING = ["jti", "iat", "email_sha256", "verified_at", "ledger_entry"];

/** What a visitor could tell two answers apart by. */
const describeAnswer = ({ statusCode, headers, text, data }: TestResponse, name: string) => {
  const claims = Object.entries(readClaims(data.receipt)).map(([claim, value]) => [
    claim,
    VARYING.includes(claim) ? typeof value : value,
  ]);
  const answer = text.replace(name, "…").replace(data.receipt, "…").replace(data.job_id, "…");
  const limits = Object.keys(headers).filter((one) => one !== "x-ratelimit-reset");
  return JSON.stringify([statusCode, answer, claims, limits]);
};

const MAILBOXES = Object.keys(SANDBOX_MAILBOXES).filter((word) => !word.includes("_"));
const DOMAINS = ["example.com", "example.net"];

test("an existing and a missing mailbox produce equal responses of equal size after equal time", async () => {
  // In two passes: the second when each verdict is known and cached.
  const ctx = await givenForm({ balance: 10_000, limit: 10_000 });
  const world = withSlowEngine(ctx, 40_000);
  const seen = new Map(DOMAINS.map((domain) => [domain, new Set<string>()]));
  const times = new Set<number>();
  let asked = 0;

  for (const _pass of ["first", "second"]) {
    for (const word of MAILBOXES)
      for (let at = 0; at < 4; at++) {
        const name = `${word}+${String(at).padStart(16 - word.length, "0")}`;
        const domain = DOMAINS[at % 2] ?? "";
        if (++asked % 100 === 0) ctx.later(60_000);
        const startedAt = world.now().getTime();
        const response = await send(world, ROUTE, {
          key: ctx.publicKey,
          body: { email: `${name}@${domain}` },
          clientIp: `10.0.${Math.floor(asked / 250)}.${asked % 250}`,
          headers: { origin: ORIGIN },
        });
        times.add(world.now().getTime() - startedAt);
        seen.get(domain)?.add(describeAnswer(response, name));
      }
    await whenWorked(ctx);
  }

  expect([...seen.values()].map(({ size }) => size)).toEqual([1, 1]);
  expect([...times]).toEqual([0]);
});

// Repeats of what a visitor sent, and the day of the key.

test("a repeated form with its Idempotency-Key returns the same job and charges nothing", async () => {
  const { world, liveKey, ...ctx } = await givenForm();
  const sent = {
    key: liveKey,
    body: { email: "ann@example.com" },
    headers: { "idempotency-key": "one" },
  };

  await send(world, ROUTE, sent);
  const { data } = await send(world, ROUTE, sent);

  expect(data).toMatchObject({ job_id: "job_1", credits_used: 0, idempotent_replay: true });
  expect(listMoves(ctx)).toEqual(["hold 1"]);
  expect((await whenVerified(world, liveKey, sent.body, "one")).statusCode).toBe(409);
});

test("visitors' Idempotency-Keys neither block the account's keys nor reveal its used ones", async () => {
  const { world, liveKey, publicKey } = await givenForm();
  const ask = (email: string, key: string) =>
    send(world, ROUTE, {
      key: publicKey,
      body: { email },
      headers: { origin: ORIGIN, "idempotency-key": key },
    });
  const first = await ask("ann@example.com", "order-1");

  expect((await whenVerified(world, liveKey, { email: "bo@x.com" }, "order-1")).statusCode).toBe(
    200,
  );
  await whenVerified(world, liveKey, { email: "bo@x.com" }, "order-2");
  expect((await ask("ann@example.com", "order-2")).statusCode).toBe(200);
  expect((await ask("ann@example.com", "order-1")).data).toMatchObject({
    job_id: first.data.job_id,
    idempotent_replay: true,
  });
});

test("two visitors with one Idempotency-Key receive separate results", async () => {
  const { ask } = await givenForm();
  const first = await ask("ann@example.com", { ip: "192.0.2.1", key: "1" });
  const other = await ask("bo@example.com", { ip: "198.51.100.7", key: "1" });
  const same = await ask("ann@example.com", { ip: "203.0.113.7", key: "1" });

  expect([first, other, same].map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  expect(new Set([first, other, same].map(({ data }) => data.job_id)).size).toBe(3);
});

/** A visitor with a token that is for one address, as long as the issuer's keys can be read. */
const givenVisitor = async (email: string) => {
  const ctx = await givenForm();
  const domain = email.slice(email.indexOf("@") + 1);
  const zone = { [`_email-verification.${domain}`]: { TXT: [`iss=${ISSUER}`] } };
  const issuer = await givenIssuer(ctx.world, { zone });
  const control = { token: await issuer.present({}, { email }), nonce: NONCE, origin: ORIGIN };
  const ask = (world = issuer.world) =>
    send(world, ROUTE, {
      key: ctx.publicKey,
      body: { email, control },
      clientIp: "192.0.2.1",
      headers: { origin: ORIGIN, "idempotency-key": "one" },
    });
  return {
    ...ctx,
    issuer,
    ask,
    hideKeys: () => issuer.fail(KEYS_URL, "timeout"),
    showKeys: () => {
      issuer.serve(KEYS_URL, { keys: [toPublicJwk(issuer.issuerKey)] });
      ctx.later(61_000);
    },
  };
};

test("a repeated form with an expired token returns the first response with its receipt", async () => {
  const { ask, ...ctx } = await givenVisitor(EMAIL);
  const first = await ask();
  expect(readClaims(first.data.receipt)).toMatchObject({ proof: "controlled" });

  ctx.later(600_000);
  const { data } = await ask();

  expect(data).toEqual({ ...first.data, credits_used: 0, idempotent_replay: true });
  expect(listMoves(ctx)).toEqual(["charge 0.5"]);
});

test("a repeated form whose control is proven later returns the first response's class and job", async () => {
  const { ask, hideKeys, showKeys, ...ctx } = await givenVisitor("ann@nullmx.example.com");
  hideKeys();
  const first = await ask();
  expect(first.data).toMatchObject({ class: "no", job_id: "job_1" });

  showKeys();
  const { data } = await ask();

  const { class: found, job_id, control, receipt } = first.data;
  expect(data).toMatchObject({ class: found, job_id, control, credits_used: 0 });
  expect(readClaims(data.receipt)).toMatchObject({ class: "no", jti: job_id });
  expect(readClaims(receipt)).toMatchObject({ class: "no", jti: job_id });
  expect(listMoves(ctx)).toEqual(["hold 1"]);
});

test("a verification that a crash left continues as a job, even when control is proven later", async () => {
  const { ask, hideKeys, showKeys, issuer, ...ctx } = await givenVisitor("invalid@example.com");
  hideKeys();
  const crashing = withTable(
    { ...ctx, world: issuer.world },
    {
      transact: async (writes) => {
        if (JSON.stringify(writes).includes('"single"')) throw new Error("the process is gone");
        return ctx.table.transact(writes);
      },
    },
  );
  expect((await ask({ ...issuer.world, table: crashing.table })).statusCode).toBe(503);
  expect(listMoves(ctx)).toEqual(["hold 1"]);

  showKeys();
  const { data } = await ask();

  expect(data).toMatchObject({ class: "go", reason: null, job_id: expect.any(String) });
  expect(readClaims(data.receipt)).not.toHaveProperty("status");
  expect(listMoves(ctx)).toEqual(["hold 1"]);
  await thenConsistent(ctx);
});

test("a public key limits the verifications of a day, and a crash never adds one", async () => {
  const { ask, later, keyId, ...ctx } = await givenForm({ limit: 2 });

  const statuses = [];
  for (const name of ["a", "b", "c"])
    statuses.push(
      (await ask(`${name}@example.com`, { ip: `192.0.2.${name.charCodeAt(0)}` })).statusCode,
    );
  expect(statuses).toEqual([200, 200, 429]);
  const { error, headers } = await ask("d@example.com");
  expect(error.message).toBe(
    "This public key has made its 2 verifications of today (UTC). Nothing was charged.",
  );
  expect(headers["retry-after"]).toBe("86400");
  expect(listMoves(ctx)).toEqual(["hold 1", "hold 1"]);

  later(86_400_000);
  expect((await ask("e@example.com")).statusCode).toBe(200);
  expect(keyId).toBe("key_3");
});

test("a repeated form does not count towards the daily limit and is answered beyond the limit", async () => {
  const { ask } = await givenForm({ limit: 2 });
  const first = await ask("ann@example.com", { key: "one" });
  await ask("ann@example.com", { key: "one" });
  expect((await ask("bo@example.com")).statusCode).toBe(200);
  expect((await ask("cy@example.com")).statusCode).toBe(429);

  const { data } = await ask("ann@example.com", { key: "one" });

  expect(data).toMatchObject({ job_id: first.data.job_id, idempotent_replay: true });
});

test("a verification that the account cannot pay does not count towards the daily limit", async () => {
  const { ask } = await givenForm({ balance: 1, limit: 2 });
  expect((await ask("ann@example.com")).statusCode).toBe(200);

  const statuses = [];
  for (const name of ["a", "b", "c"]) statuses.push((await ask(`${name}@example.com`)).statusCode);

  expect(statuses).toEqual([402, 402, 402]);
});

test("a form answers 402 and nothing_charged when the daily count cannot be decreased", async () => {
  const { publicKey, ...ctx } = await givenForm({ balance: 0 });
  const world = withTable(ctx, {
    write: (write) =>
      "update" in write && write.add?.["n"] === -1 ? rejectDown() : ctx.table.write(write),
  });

  const { statusCode, error } = await send(world, ROUTE, {
    key: publicKey,
    body: { email: "ann@example.com" },
    headers: { origin: ORIGIN },
  });

  expect([statusCode, error.money]).toEqual([402, "nothing_charged"]);
});

const readForms = async (
  { world, liveKey }: Awaited<ReturnType<typeof givenForm>>,
  key = liveKey,
) => {
  const { data } = await send(world, "GET /v1/account/usage", { key });
  return { total: data.totals.forms, days: data.days.map((day: any) => [day.date, day.forms]) };
};

test("the usage counts a form's addresses by class, and its typos", async () => {
  const ctx = await givenForm();
  for (const email of [
    "ann@example.com",
    "bob@example.com",
    "info@example.com",
    "ann@gmial.com",
    "ann.example.com",
    "ann@[127.0.0.1]",
  ])
    await ctx.ask(email);

  const counts = { key_id: ctx.keyId, origin: ORIGIN, go: 2, ask: 2, no: 2, typos: 1 };
  expect(await readForms(ctx)).toEqual({
    total: [counts],
    days: [["2026-11-21", [counts]]],
  });
  expect((await readForms(ctx, ctx.testKey)).total).toEqual([]);
});

test("the usage counts a repeated request of a visitor once, and a refused one never", async () => {
  const ctx = await givenForm({ limit: 1 });
  for (let n = 0; n < 3; n++) await ctx.ask("ann@example.com", { key: "one" });
  expect((await ctx.ask("bob@example.com")).statusCode).toBe(429);
  await whenWorked(ctx);

  expect((await readForms(ctx)).total).toMatchObject([{ go: 1, ask: 0, no: 0 }]);
});

test("the usage counts the addresses of a back end apart from those of a page", async () => {
  const ctx = await givenForm();
  await ctx.ask("ann@example.com");
  await send(ctx.world, ROUTE, { key: ctx.liveKey, body: { email: "bob@example.com" } });

  const { total } = await readForms(ctx);

  expect(total.map(({ origin, go }: any) => [origin, go])).toEqual(
    expect.arrayContaining([
      [ORIGIN, 1],
      [undefined, 1],
    ]),
  );
});
