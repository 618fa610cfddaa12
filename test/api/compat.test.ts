import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { DIALECTS } from "@mailproof/api/compat/vendors";
import { STATUSES, type Status } from "@mailproof/core/verify/result";
import { createCompatLambda } from "@mailproof/functions/compat";
import { formatMarkdownTable } from "@mailproof/lab/markdown-table";
import { createApiServer } from "@mailproof/local/server/server";
import { describe, expect, onTestFinished, test } from "vitest";
import { toBytes, toEvent, toHeaders } from "../../infra/gateway-event.ts";
import { whenWorked } from "../app/drain-queues.ts";
import { rejectDown } from "../app/faulty-worlds.ts";
import { given, givenKey } from "../app/given.ts";
import { readCredits, thenConsistent } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import { createContext } from "../aws/events.ts";
import { ORIGIN } from "../things/control.ts";
import { whenCreated } from "../things/forms.ts";

// Other verifiers' clients call /compat/{vendor}. test/third-party/vendors.test.ts runs their own SDKs; here stands what no
// SDK sends.

type Context = Awaited<ReturnType<typeof given>>;
type Sent = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};
/** Any: each test states the fields that it is about. */
type Answered = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly json: any;
};
type Call = (path: string, sent?: Sent) => Promise<Answered>;

const listen = async ({ world }: Pick<Context, "world">): Promise<string> => {
  const server = createApiServer(world, () => undefined).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const onOneMachine = async (ctx: Context): Promise<Call> => {
  const base = `${await listen(ctx)}/compat`;
  return async (path, sent = {}) => {
    const response = await fetch(base + path, sent);
    const text = await response.text();
    const headers = Object.fromEntries(response.headers);
    return { status: response.status, headers, json: text === "" ? null : JSON.parse(text) };
  };
};

const onAws = async ({ world }: Context): Promise<Call> => {
  const handler = createCompatLambda(world);
  let requests = 0;
  return async (path, { method = "GET", headers = {}, body } = {}) => {
    const url = `/compat${path}`;
    const sent = {
      method,
      url,
      headers: Object.entries(headers),
      ...(body !== undefined && { body }),
    };
    const event = toEvent(sent);
    Object.assign(event.requestContext, { requestId: `r${(requests += 1)}=` });
    const response = await handler(event, createContext());
    return {
      status: response.statusCode ?? 0,
      headers: toHeaders(response),
      json: response.body ? JSON.parse(toBytes(response).toString()) : null,
    };
  };
};

const RUNTIMES = [
  ["one machine", onOneMachine],
  ["AWS", onAws],
] as const;

const ADDRESSES = {
  valid: "valid@example.com",
  invalid: "invalid@example.com",
  risky: "risky@example.com",
  unknown: "blocked@example.com",
  catch_all: "catch_all@example.com",
  disposable: "ann@disposable.example.com",
  role: "info@example.com",
  spam_trap: "spam_trap@example.com",
} as const;

/** The result word of each vendor, written by hand from the vendors' documents, in the order of ADDRESSES. */
const WORDS: Readonly<Record<string, readonly [field: string, ...words: string[]]>> = {
  zerobounce: [
    "status",
    "valid",
    "invalid",
    "catch-all",
    "unknown",
    "catch-all",
    "do_not_mail",
    "do_not_mail",
    "spamtrap",
  ],
  neverbounce: [
    "result",
    "valid",
    "invalid",
    "catchall",
    "unknown",
    "catchall",
    "disposable",
    "valid",
    "invalid",
  ],
  kickbox: [
    "result",
    "deliverable",
    "undeliverable",
    "risky",
    "unknown",
    "risky",
    "risky",
    "risky",
    "risky",
  ],
  millionverifier: [
    "result",
    "ok",
    "invalid",
    "catch_all",
    "unknown",
    "catch_all",
    "disposable",
    "ok",
    "invalid",
  ],
  emailable: [
    "state",
    "deliverable",
    "undeliverable",
    "risky",
    "unknown",
    "risky",
    "risky",
    "risky",
    "risky",
  ],
  reacher: [
    "is_reachable",
    "safe",
    "invalid",
    "risky",
    "unknown",
    "risky",
    "risky",
    "risky",
    "risky",
  ],
};

/** A call as the vendor's own clients send it. */
const toCall = (vendor: string, key: string, email?: string): readonly [string, Sent] => {
  const given = email === undefined ? {} : { email };
  const query = (name: string) =>
    new URLSearchParams({ ...given, ...(key !== "" && { [name]: key }) }).toString();
  const calls: Readonly<Record<string, () => readonly [string, Sent]>> = {
    zerobounce: () => [`/zerobounce/v2/validate?${query("api_key")}`, {}],
    neverbounce: () => [
      "/neverbounce/v4.2/single/check",
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...given, ...(key !== "" && { key }) }),
      },
    ],
    kickbox: () => [
      `/kickbox/v2/verify?${new URLSearchParams(given).toString()}`,
      { headers: key === "" ? {} : { authorization: `token ${key}` } },
    ],
    millionverifier: () => [`/millionverifier/api/v3/?${query("api")}`, {}],
    emailable: () => [
      "/emailable/v1/verify",
      {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(key !== "" && { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify(given),
      },
    ],
    reacher: () => [
      "/reacher/v0/check_email",
      {
        method: "POST",
        headers: { "content-type": "application/json", ...(key !== "" && { authorization: key }) },
        body: JSON.stringify(email === undefined ? {} : { to_email: email }),
      },
    ],
  };
  return calls[vendor]?.() ?? ["", {}];
};

const VENDORS = Object.keys(WORDS);
const JSON_TYPE = { "content-type": "application/json" };

test("every vendor's table has an expectation here", () => {
  expect(Object.keys(DIALECTS)).toEqual(VENDORS);
});

const page = readFileSync("docs/compat.md", "utf8");

test("docs/compat.md lists the word of each vendor for each status", () => {
  const toWord = (vendor: string, status: Status) =>
    status === "role" && ["neverbounce", "millionverifier"].includes(vendor)
      ? "the mailbox's"
      : `\`${DIALECTS[vendor]?.words[status]}\``;
  const rows = STATUSES.map((status) => [
    `\`${status}\``,
    ...VENDORS.map((vendor) => toWord(vendor, status)),
  ]);
  const table = formatMarkdownTable(["status", ...VENDORS], rows);

  expect(page.includes(table), `docs/compat.md should contain\n\n${table}\n`).toBe(true);
});

test("each curl line of docs/compat.md returns the page's word when it runs against the service", async () => {
  const ctx = await given();
  const env = { ...process.env, MAILPROOF_API: await listen(ctx), MAILPROOF_KEY: ctx.testKey };

  const found: unknown[] = [];
  for (const [line] of page.matchAll(/^curl .*$/gm)) {
    const { stdout } = await promisify(execFile)("bash", ["-c", line], { env });
    const { status, state } = JSON.parse(stdout);
    found.push(status ?? state);
  }

  expect(found).toEqual(["valid", "undeliverable"]);
});

test("the n8n node of docs/compat.md returns the page's result when it calls the service", async () => {
  const ctx = await given();
  const node = JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? "");
  const toRecord = (part: { parameters: { name: string; value: string }[] }) =>
    Object.fromEntries(part.parameters.map(({ name, value }) => [name, value]));
  const query = new URLSearchParams(toRecord(node.queryParameters));
  const headers = toRecord(node.headerParameters);
  expect(headers).toEqual({ "X-Api-Key": "<the key>" });

  const url = node.url.replace("http://127.0.0.1:8787", await listen(ctx));
  const response = await fetch(`${url}?${query.toString()}`, {
    headers: { "X-Api-Key": ctx.testKey },
  });

  expect(await response.json()).toMatchObject({ result: "risky", disposable: true });
});

describe.each(RUNTIMES)("other verifiers' clients on %s", (_name, open) => {
  const setUp = async (balance = 100) => {
    const ctx = await given({ balance });
    return { ...ctx, call: await open(ctx) };
  };

  test.each(VENDORS)("%s answers each of the eight statuses with its own word", async (vendor) => {
    const { call, liveKey, ...ctx } = await setUp();
    const [field = "", ...words] = WORDS[vendor] ?? [];
    const found: string[] = [];

    for (const email of Object.values(ADDRESSES)) {
      const { status, headers, json } = await call(...toCall(vendor, liveKey, email));
      expect([status, headers["content-type"]]).toEqual([200, "application/json"]);
      expect(headers["x-request-id"]).toMatch(/./);
      expect(headers["mailproof-evidence"]).toContain("/v1/requests?q=");
      found.push(json[field]);
    }

    expect(found).toEqual(words);
    // The blocked address is free, because the server refused this service.
    expect(await readCredits(ctx)).toMatchObject({ available: 93, held: 0, spent: 7 });
    await thenConsistent(ctx);
  });

  const REFUSED: readonly (readonly [
    vendor: string,
    no: number,
    wrong: number,
    poor: number,
    bad: number,
    part: string,
  ])[] = [
    ["zerobounce", 200, 200, 200, 400, "error"],
    ["neverbounce", 200, 200, 200, 200, "message"],
    ["kickbox", 403, 403, 403, 400, "message"],
    ["millionverifier", 200, 200, 200, 200, "error"],
    ["emailable", 401, 403, 402, 400, "message"],
    ["reacher", 401, 401, 429, 400, "error"],
  ];

  test.each(REFUSED)(
    "%s refuses no key, a wrong key, no credits and no address as the vendor does",
    async (vendor, no, wrong, poor, bad, part) => {
      const { call, liveKey, ...ctx } = await setUp(0);
      const found: number[] = [];

      for (const [key, email] of [
        ["", "a@x.com"],
        ["mp_live_none", "a@x.com"],
        [liveKey, "a@x.com"],
        [liveKey, undefined],
      ] as const) {
        const { status, json } = await call(...toCall(vendor, key, email));
        expect(json[part]).toMatch(/\w/);
        found.push(status);
      }

      expect(found).toEqual([no, wrong, poor, bad]);
      expect(await readCredits(ctx)).toMatchObject({ available: 0, held: 0, spent: 0 });
    },
  );

  test("NeverBounce's refusals have its words", async () => {
    const { call, liveKey } = await setUp(0);
    const ask = async (key: string, email?: string) =>
      (await call(...toCall("neverbounce", key, email))).json.status;

    expect(await ask("mp_live_none", "a@x.com")).toBe("auth_failure");
    expect(await ask(liveKey, "a@x.com")).toBe("general_failure");
    expect(await ask(liveKey)).toBe("general_failure");
  });

  test.each([
    ["/zerobounce/v2/getcredits?api_key=KEY", { Credits: "7" }],
    ["/neverbounce/v4.2/account/info?key=KEY", { credits_info: { paid_credits_remaining: 7 } }],
    ["/kickbox/v2/balance?apikey=KEY", { balance: 7, success: true }],
    ["/millionverifier/api/v3/credits?api=KEY", { credits: 7 }],
    ["/emailable/v1/account?api_key=KEY", { available_credits: 7 }],
  ])("%s states the whole credits", async (path, expected) => {
    const { call, world, account } = await setUp(7.5);
    // The scope of a vendor's key is enough.
    const key = await givenKey(world, account, { scopes: ["verification:write"] });

    expect(await call(path.replace("KEY", key))).toMatchObject({ status: 200, json: expected });
    const wrong = await call(path.replace("KEY", "mp_live_none"));
    expect(wrong.json).not.toMatchObject(expected);
  });

  test("ZeroBounce states -1 credits for a wrong key", async () => {
    const { call } = await setUp();

    expect((await call("/zerobounce/v2/getcredits?api_key=none")).json).toEqual({ Credits: "-1" });
  });

  test.each(VENDORS)(
    "%s answers unknown for a pending verification, which its job ends",
    async (vendor) => {
      const { call, liveKey, ...ctx } = await setUp(1);
      const [field = "", ...words] = WORDS[vendor] ?? [];

      const { status, headers, json } = await call(...toCall(vendor, liveKey, "greylisted@x.com"));

      expect([status, json[field]]).toEqual([200, words[3]]);
      expect(await readCredits(ctx)).toMatchObject({ available: 0, held: 1 });
      const job = /\/v1\/jobs\/([\w-]+)$/.exec(headers["mailproof-evidence"] ?? "")?.[1];
      const { data } = await send(ctx.world, `GET /v1/jobs/${job}`, { key: liveKey });
      expect(data).toMatchObject({ progress: { total: 1 } });
    },
  );

  test.each(VENDORS)("%s answers unknown free of charge when the service fails", async (vendor) => {
    const { call, liveKey, ...ctx } = await setUp(1);
    const [field = "", ...words] = WORDS[vendor] ?? [];

    const { status, json } = await call(...toCall(vendor, liveKey, "error@x.com"));

    expect([status, json[field]]).toEqual([200, words[3]]);
    expect(await readCredits(ctx)).toMatchObject({ available: 1, held: 0, spent: 0 });
    await thenConsistent(ctx);
  });

  test("ZeroBounce's cause tells a slow server from a failure of the service", async () => {
    const { call, liveKey } = await setUp();
    const ask = async (email: string) =>
      (await call(...toCall("zerobounce", liveKey, email))).json.sub_status;

    expect(await ask("unknown@x.com")).toBe("timeout_exceeded");
    expect(await ask("error@x.com")).toBe("exception_occurred");
    expect(await ask("invalid@x.com")).toBe("mailbox_not_found");
    expect(await ask("no address")).toBe("failed_syntax_check");
    expect(await ask("ann@nullmx.com")).toBe("does_not_accept_mail");
  });

  test("a call with a test key returns the words of a live key and costs nothing", async () => {
    const { call, testKey, ...ctx } = await setUp(1);

    const { json } = await call(...toCall("millionverifier", testKey, "catch_all@example.com"));

    expect(json).toMatchObject({
      result: "catch_all",
      resultcode: 2,
      livemode: false,
      credits: 1_000,
    });
    expect(await readCredits(ctx)).toMatchObject({ available: 1 });
  });

  test.each(VENDORS)(
    "%s refuses a key of another scope, a public key and a revoked key",
    async (vendor) => {
      const { call, world, account, liveKey, ...ctx } = await setUp();
      const [field = ""] = WORDS[vendor] ?? [];
      const reading = await givenKey(world, account, { scopes: ["verification:read"] });
      const form = (await whenCreated(world, liveKey)).data.key as string;
      const made = await send(world, "POST /v1/api-keys", {
        key: liveKey,
        body: { name: "Old", mode: "live" },
      });
      await send(world, `DELETE /v1/api-keys/${made.data.key_id}`, { key: liveKey });

      for (const key of [reading, form, made.data.key as string]) {
        const [path, sent] = toCall(vendor, key, "valid@example.com");
        const { json } = await call(path, {
          ...sent,
          headers: { ...sent.headers, origin: ORIGIN },
        });
        expect(Object.keys(json)).not.toContain(field === "result" ? "email" : field);
      }

      expect(await readCredits({ ...ctx, account })).toMatchObject({ available: 100, held: 0 });
    },
  );

  test.each([
    ["a plus sign as it stands", "email=valid+tag@example.com", "valid+tag@example.com"],
    ["an encoded plus sign", "email=valid%2Btag%40example.com", "valid+tag@example.com"],
    ["a stray percent sign", "email=valid%zz@example.com", "valid%zz@example.com"],
    ["letters beyond ASCII", "email=valid.j%C3%B6rg@example.com", "valid.jörg@example.com"],
    ["one value twice", "email=valid@example.com&email=valid@example.com", "valid@example.com"],
  ])("an address in a URL may have %s", async (_what, query, address) => {
    const { call, liveKey } = await setUp();

    const { json } = await call(`/zerobounce/v2/validate?api_key=${liveKey}&${query}`);

    expect(json.address).toBe(address);
  });

  test.each([
    ["two different addresses", "email=a@example.com&email=b@example.com"],
    ["bytes that are not UTF-8", "email=valid%FF@example.com"],
    ["an address of 1,001 characters", `email=${"a".repeat(1_001)}`],
    ["an empty address", "email="],
    ["101 parameters", `email=a@x.com&${"a&".repeat(100)}`],
  ])("a URL with %s is refused and costs nothing", async (_what, query) => {
    const { call, liveKey, ...ctx } = await setUp();

    const { status, json } = await call(`/zerobounce/v2/validate?api_key=${liveKey}&${query}`);

    expect([status, json.error]).toEqual([400, expect.stringMatching(/Nothing was charged\.$/)]);
    expect(await readCredits(ctx)).toMatchObject({ available: 100 });
  });

  test("two different keys in one call are no key", async () => {
    const { call, liveKey, testKey } = await setUp();
    const path = `/emailable/v1/verify?email=valid@example.com&api_key=${liveKey}`;

    expect((await call(path, { headers: { "x-api-key": testKey } })).status).toBe(403);
    expect((await call(path, { headers: { "x-api-key": liveKey } })).status).toBe(200);
    expect((await call(`${path}&api_key=${testKey}`)).status).toBe(401);
  });

  test("a form, JSON and a query are read alike", async () => {
    const { call, liveKey } = await setUp();
    const form = new URLSearchParams({ key: liveKey, email: "valid+a@example.com" }).toString();
    const type = { "content-type": "application/x-www-form-urlencoded" };
    const path = "/neverbounce/v4/single/check";

    const answers = [
      await call(path, { method: "POST", headers: type, body: form }),
      await call(`${path}?${form}`, { method: "POST" }),
      await call(`${path}?${form}`),
    ];

    expect(answers.map(({ json }) => json.result)).toEqual(["valid", "valid", "valid"]);
  });

  test.each([
    ["broken JSON", JSON_TYPE, "{"],
    ["a JSON list", JSON_TYPE, "[]"],
    ["another type", { "content-type": "text/xml" }, "<a/>"],
    ["a body over the limit", JSON_TYPE, JSON.stringify({ a: "a".repeat(130_000) })],
  ])("%s is refused as the vendor refuses", async (_what, headers, body) => {
    const { call } = await setUp();

    const { status, json } = await call("/emailable/v1/verify", { method: "POST", headers, body });

    expect([status, json]).toEqual([
      400,
      { message: expect.stringMatching(/Nothing was charged\.$/) },
    ]);
  });

  test("a JSON field that is no text is refused by the vendor's name of the field", async () => {
    const { call, liveKey } = await setUp();
    const body = JSON.stringify({ email: { toString: 1 }, timeout: { valueOf: 1 } });
    const headers = { ...JSON_TYPE, "x-api-key": liveKey };

    const { status, json } = await call("/emailable/v1/verify", { method: "POST", headers, body });

    expect([status, json]).toEqual([400, { message: expect.stringMatching(/^email: /) }]);
    const reacher = { method: "POST", headers, body: '{"to_email":5}' };
    expect((await call("/reacher/v0/check_email", reacher)).json.error).toMatch(/^to_email: /);
  });

  test.each(["timeout=0", "timeout=-5", "timeout=abc", "timeout=1e99", "timeout=0.0001"])(
    "the wait is bounded for %s",
    async (query) => {
      const { call, liveKey, now } = await setUp().then((ctx) => ({ ...ctx, now: ctx.world.now }));
      const startedAt = now().getTime();

      const path = `/zerobounce/v2/validate?api_key=${liveKey}&email=slow@x.com&${query}`;
      const { json } = await call(path);

      expect(json).toMatchObject({ status: "unknown", sub_status: "timeout_exceeded" });
      expect(now().getTime() - startedAt).toBeLessThanOrEqual(25_000);
    },
  );

  test("the service refuses an unknown vendor, route or method, and charges nothing for HEAD", async () => {
    const { call, liveKey, ...ctx } = await setUp();
    const query = `?api_key=${liveKey}&email=valid@example.com`;

    expect(await call(`/constructor/v2/validate${query}`)).toMatchObject({
      status: 404,
      json: { error: { code: "NOT_FOUND" } },
    });
    expect(await call(`/zerobounce/v2/activity${query}`)).toMatchObject({
      status: 404,
      json: { error: expect.any(String) },
    });
    expect(await call(`/zerobounce/v2/validate${query}`, { method: "DELETE" })).toMatchObject({
      status: 405,
      headers: { allow: "GET" },
    });
    expect((await call(`/zerobounce/v2/validate${query}`, { method: "HEAD" })).status).toBe(405);
    expect(await readCredits(ctx)).toMatchObject({ available: 100 });
  });

  test("the service charges a call and its repeat once when both have one Idempotency-Key", async () => {
    const { call, liveKey, ...ctx } = await setUp();
    const [path, sent] = toCall("kickbox", liveKey, "valid@example.com");
    const keyed = { ...sent, headers: { ...sent.headers, "idempotency-key": "order-1" } };

    const [first, again] = [await call(path, keyed), await call(path, keyed)];

    expect(again.json).toEqual(first.json);
    expect(first.headers["x-kickbox-balance"]).toBe("99");
    expect(await readCredits(ctx)).toMatchObject({ available: 99, spent: 1 });
  });

  test("a full minute is refused as the vendor does, with the time to wait", async () => {
    const ctx = await given({ balance: 1 });
    const rateLimit = async () =>
      ({
        allowed: false,
        by: "key",
        limit: 1,
        remaining: 0,
        resetAt: 0,
      }) as const;
    const call = await open({ ...ctx, world: { ...ctx.world, rateLimit } });

    const { status, headers, json } = await call(...toCall("emailable", ctx.liveKey, "a@x.com"));

    expect([status, headers["retry-after"], json]).toEqual([
      429,
      "1",
      { message: expect.any(String) },
    ]);
  });

  test("the account's log has the request by its id as POST /v1/verify, without its key or address", async () => {
    const { call, liveKey, logged, ...ctx } = await setUp();

    const { headers } = await call(...toCall("zerobounce", liveKey, "valid@example.com"));
    await call(...toCall("zerobounce", liveKey, "error@example.com"));

    const { data } = await send(ctx.world, "GET /v1/requests", { key: liveKey });
    const request_id = headers["x-request-id"];
    expect(data.requests).toContainEqual(
      expect.objectContaining({ request_id, method: "POST", route: "/v1/verify", status: 200 }),
    );
    const written = JSON.stringify([logged, data]);
    expect(written).not.toContain(liveKey);
    expect(written).not.toContain("example.com");
  });

  test("a failing table answers unknown, or the vendor's own failure where the money is not known", async () => {
    const { table, ...ctx } = await given({ balance: 1 });
    const world = { ...ctx.world, table: { ...table, get: rejectDown } };
    const call = await open({ ...ctx, table, world } as Context);

    const [path, sent] = toCall("emailable", ctx.liveKey, "valid@example.com");
    expect(await call(path, sent)).toMatchObject({
      status: 200,
      json: { state: "unknown", reason: "unexpected_error" },
    });
    const keyed = { ...sent, headers: { ...sent.headers, "idempotency-key": "k" } };
    expect(await call(path, keyed)).toMatchObject({
      status: 500,
      json: { message: expect.stringContaining("same Idempotency-Key") },
    });
  });

  const toBatch = (key: string, emails: readonly unknown[]): readonly [string, Sent] => [
    "/zerobounce/v2/validatebatch",
    {
      method: "POST",
      headers: JSON_TYPE,
      body: JSON.stringify({
        api_key: key,
        email_batch: emails.map((one) => ({ email_address: one })),
      }),
    },
  ];

  test("a batch verifies each different address once, and answers every entry in order", async () => {
    const { call, liveKey, ...ctx } = await setUp(5);
    const emails = [
      "valid@x.com",
      "invalid@x.com",
      "valid@x.com",
      "error@x.com",
      "greylisted@x.com",
    ];

    const { status, json } = await call(...toBatch(liveKey, emails));

    expect(status).toBe(200);
    expect(json.email_batch.map((one: any) => `${one.address} ${one.status}`)).toEqual([
      "valid@x.com valid",
      "invalid@x.com invalid",
      "valid@x.com valid",
      "error@x.com unknown",
      "greylisted@x.com unknown",
    ]);
    expect(json.errors).toEqual([]);
    expect(await readCredits(ctx)).toMatchObject({ available: 2, held: 1, spent: 2 });
    await whenWorked(ctx);
    await thenConsistent(ctx);
  });

  test("a batch states the addresses that the credits did not reach", async () => {
    const { call, liveKey, ...ctx } = await setUp(1);

    const { json } = await call(...toBatch(liveKey, ["valid@x.com", "valid.b@x.com"]));

    expect([json.email_batch.length, json.errors.length]).toEqual([1, 1]);
    expect(json.errors[0]).toEqual({
      email_address: expect.any(String),
      error: expect.stringMatching(/credit/i),
    });
    expect(await readCredits(ctx)).toMatchObject({ available: 0, spent: 1 });
  });

  test("a batch under an Idempotency-Key is charged once", async () => {
    const { call, liveKey, ...ctx } = await setUp(5);
    const [path, sent] = toBatch(liveKey, ["valid@x.com", "invalid@x.com"]);
    const keyed = { ...sent, headers: { ...sent.headers, "idempotency-key": "batch-1" } };

    const [first, again] = [await call(path, keyed), await call(path, keyed)];

    expect(again.json).toEqual(first.json);
    expect(await readCredits(ctx)).toMatchObject({ available: 3, spent: 2 });
  });

  test.each([
    ["201 addresses", Array.from({ length: 201 }, (_, at) => `valid${at}@x.com`)],
    ["no address", []],
    ["a number", [5]],
  ])("a batch of %s is refused whole", async (_what, emails) => {
    const { call, liveKey, ...ctx } = await setUp();

    const { status, json } = await call(...toBatch(liveKey, emails));

    expect([status, json]).toMatchObject([
      400,
      { email_batch: [], errors: [{ email_address: "all" }] },
    ]);
    expect(await readCredits(ctx)).toMatchObject({ available: 100 });
  });

  test("the verification of a vendor's client is cached for POST /v1/verify", async () => {
    const { call, liveKey, ...ctx } = await setUp();

    await call(...toCall("kickbox", liveKey, "valid@example.com"));

    const { data } = await whenVerified(ctx.world, liveKey, { email: "valid@example.com" });
    expect(data).toMatchObject({ cached: true, credits_used: 0.5 });
  });
});
