import { signInWithPasskey } from "@mailproof/api/endpoints/sign-in-with-passkey";
import { buildIdentityWrites, toPasskeyKey, toPersonKey } from "@mailproof/core/people/items";
import { expect, test } from "vitest";
import { listGrants } from "../../infra/iam.ts";
import { createStoppingWorld, runTurn, withLostReplies } from "../app/faulty-worlds.ts";
import { type Browser, createBrowser, givenMember, givenOwner } from "../app/people.ts";
import { limitTable } from "../app/rights.ts";
import { BASE_URL } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import { type Authenticator, type Changes, createAuthenticator } from "../things/authenticator.ts";

const SIGN_IN = "POST /v1/sign-in/passkey";
const ADD = "POST /v1/passkeys";
const MINUTE_MS = 60_000;

const start = async (browser: Browser, route: string) =>
  (await browser.send(route, { body: { action: "start" } })).data.options;

const finish = (browser: Browser, route: string, response: object, name?: string) =>
  browser.send(route, { body: { action: "finish", response, ...(name && { name }) } });

const add = async (browser: Browser, key: Authenticator, changes?: Changes) =>
  finish(browser, ADD, key.create(await start(browser, ADD), changes), "Key");

const signIn = async (browser: Browser, key: Authenticator, changes?: Changes) =>
  finish(browser, SIGN_IN, key.use(await start(browser, SIGN_IN), changes));

/** The owner with a passkey. */
const givenPasskey = async (key = createAuthenticator()) => {
  const owner = await givenOwner();
  const added = await add(owner.browser, key);
  const person: string = (await owner.browser.send("GET /v1/person")).data.person_id;
  return { ...owner, key, added, person };
};

test("the role of the sign-in's Lambda allows a sign-in by passkey and reaches no account and no key", async () => {
  const { world, key } = await givenPasskey();
  const limited = createBrowser({ ...world, table: limitTable(world.table, signInWithPasskey) });

  expect((await signIn(limited, key)).statusCode).toBe(200);
  // The second sign-in also ends the session of the first.
  expect((await signIn(limited, key)).statusCode).toBe(200);
  const grants = listGrants(signInWithPasskey.needs);
  expect(new Set(grants.flatMap(({ partitions = ["*"] }) => partitions))).toEqual(
    new Set(["CHALLENGE#*", "PASSKEY#*", "PERSON#*", "SESSION#*"]),
  );
});

const REFUSED = {
  statusCode: 403,
  error: {
    code: "FORBIDDEN",
    message:
      "This passkey was not accepted. Try again, or use another way to sign in. Nothing was charged.",
  },
};

const countPasskeys = async (browser: Browser): Promise<number> =>
  (await browser.send("GET /v1/person")).data.passkeys.length;

test("a person adds a passkey, signs out, and signs in by it without typing an address", async () => {
  const { browser, key, added, person, later } = await givenPasskey();
  expect(added).toMatchObject({ statusCode: 201, data: { passkey_id: key.id, name: "Key" } });
  await browser.send("DELETE /v1/session");
  later(MINUTE_MS);

  const options = await start(browser, SIGN_IN);
  const signedIn = await finish(browser, SIGN_IN, key.use(options));

  expect(options).toEqual({
    challenge: expect.any(String),
    rpId: new URL(BASE_URL).hostname,
    userVerification: "required",
    timeout: 300_000,
  });
  expect(signedIn).toMatchObject({ statusCode: 200, data: { person_id: person } });
  expect(signedIn.headers["set-cookie"]).toMatch(/^__Host-mailproof=[\w-]{43}; .*HttpOnly/);
  const { data } = await browser.send("GET /v1/person");
  expect(data).toMatchObject({ person_id: person, recently_signed_in: true });
  expect(data.passkeys).toMatchObject([{ last_used_at: "2026-11-21T00:01:00.000Z" }]);
});

test("a new passkey must verify the person and name the person itself", async () => {
  const { browser, key, person } = await givenPasskey();

  expect(await start(browser, ADD)).toMatchObject({
    rp: { id: new URL(BASE_URL).hostname },
    user: { id: Buffer.from(person).toString("base64url"), name: "Ada" },
    pubKeyCredParams: [{ alg: -8 }, { alg: -7 }, { alg: -257 }],
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    excludeCredentials: [{ id: key.id, type: "public-key", transports: ["usb"] }],
    attestation: "none",
  });
});

test.each([-8, -7, -257])("passkeys of algorithm %d sign in", async (algorithm) => {
  const { browser, key } = await givenPasskey(createAuthenticator({ algorithm }));

  expect((await signIn(browser, key)).statusCode).toBe(200);
});

test("a passkey that does not count signs in again and again", async () => {
  const { browser, key } = await givenPasskey(createAuthenticator({ counts: false }));

  for (const _ of [1, 2, 3]) expect((await signIn(browser, key)).statusCode).toBe(200);
});

test("a sign-in ends the session that this browser had", async () => {
  const { world, browser, key } = await givenPasskey();
  const cookie = browser.getCookie() ?? "";

  await signIn(browser, key);

  const earlier = await createBrowser(world).send("GET /v1/person", { headers: { cookie } });
  expect(earlier.statusCode).toBe(401);
  expect((await browser.send("GET /v1/person")).statusCode).toBe(200);
});

test("a sign-in by a passkey is recent enough to add or remove a passkey", async () => {
  const { browser, key, later } = await givenPasskey();
  later(6 * MINUTE_MS);
  const old = { statusCode: 403, error: { details: { sign_in_again: true } } };
  expect(await browser.send(ADD, { body: { action: "start" } })).toMatchObject(old);
  expect(await browser.send(`DELETE /v1/passkeys/${key.id}`)).toMatchObject(old);

  await signIn(browser, key);

  expect((await add(browser, createAuthenticator())).statusCode).toBe(201);
});

test("a page of another origin can neither start nor finish a sign-in", async () => {
  const { world, key, browser } = await givenPasskey();
  const response = key.use(await start(browser, SIGN_IN));
  const headers = { "sec-fetch-site": "same-site" };

  for (const body of [{ action: "start" }, { action: "finish", response }]) {
    const sent = await createBrowser(world).send(SIGN_IN, { headers, body });
    expect([sent.statusCode, sent.headers["set-cookie"]]).toEqual([403, undefined]);
  }
});

const OTHER = "https://evil.example";

test.each(
  asRows<[string, Changes]>`
    another origin | ${{ origin: OTHER }}
    a host below ours | ${{ origin: BASE_URL.replace("//", "//app.") }}
    another port | ${{ origin: `${BASE_URL}:8443` }}
    another host's id | ${{ rpId: "evil.example" }}
    no verification of the person | ${{ isVerified: false }}
    a challenge that we did not make | ${{ challenge: "x".repeat(60) }}
    the type of a creation | ${{ type: "webauthn.create" }}
    another key's signature | ${{ isForged: true }}
    another person | ${{ userHandle: Buffer.from("person_2").toString("base64url") }}
    an unknown passkey | ${{ id: "unknown" }}
  `,
)("a sign-in with %s is refused, and the same passkey then signs in", async (_, changes) => {
  const { world, key } = await givenPasskey();
  const browser = createBrowser(world);

  const refused = await signIn(browser, key, changes);

  expect(refused).toMatchObject(REFUSED);
  expect(refused.headers["set-cookie"]).toBeUndefined();
  expect((await signIn(browser, key)).statusCode).toBe(200);
});

test.each(
  asRows<[string, Changes]>`
    another origin | ${{ origin: OTHER }}
    another host's id | ${{ rpId: "evil.example" }}
    no verification of the person | ${{ isVerified: false }}
    a challenge that we did not make | ${{ challenge: "x".repeat(60) }}
    the type of a sign-in | ${{ type: "webauthn.get" }}
    an id that is not the signed one | ${{ id: "unsigned" }}
  `,
)("a new passkey with %s is refused", async (_, changes) => {
  const { browser } = await givenOwner();

  expect(await add(browser, createAuthenticator(), changes)).toMatchObject(REFUSED);
  expect(await countPasskeys(browser)).toBe(0);
});

test.each([-35, -48])("a new passkey of algorithm %d is refused", async (algorithm) => {
  const { browser } = await givenOwner();

  expect(await add(browser, createAuthenticator({ algorithm }))).toMatchObject(REFUSED);
});

test("a challenge expires after five minutes", async () => {
  const { browser, key, later } = await givenPasskey();
  const options = await start(browser, SIGN_IN);
  later(5 * MINUTE_MS - 1_000);
  const inTime = key.use(options);
  later(1_000);

  expect(await finish(browser, SIGN_IN, inTime)).toMatchObject(REFUSED);
});

test("a challenge is valid until its last second, and then not a second time", async () => {
  const { browser, key, later } = await givenPasskey();
  const response = key.use(await start(browser, SIGN_IN));
  later(5 * MINUTE_MS - 1_000);

  expect((await finish(browser, SIGN_IN, response)).statusCode).toBe(200);
  expect(await finish(browser, SIGN_IN, response)).toMatchObject(REFUSED);
});

test("a challenge for a new passkey does not sign in, and one for a sign-in adds no passkey", async () => {
  const { browser, key } = await givenPasskey();
  const { challenge } = await start(browser, ADD);
  expect(await signIn(browser, key, { challenge })).toMatchObject(REFUSED);

  const { challenge: other } = await start(browser, SIGN_IN);
  const added = await add(browser, createAuthenticator(), { challenge: other });
  expect(added).toMatchObject(REFUSED);
});

test("a person cannot add a passkey that answers another person's challenge", async () => {
  const owner = await givenOwner();
  const { browser: member } = await givenMember(owner, "member");
  const created = createAuthenticator().create(await start(owner.browser, ADD));

  expect(await finish(member, ADD, created, "Theirs")).toMatchObject(REFUSED);
  expect(await countPasskeys(member)).toBe(0);
});

test("a person who is erased meanwhile gets no passkey", async () => {
  const ctx = await givenOwner();
  const { data } = await ctx.browser.send("GET /v1/person");
  const key = createAuthenticator();
  const created = key.create(await start(ctx.browser, ADD));
  const { world, goOn } = createStoppingWorld(ctx, 0);
  const cookie = ctx.browser.getCookie() ?? "";
  const body = { action: "finish", name: "Key", response: created };
  const late = createBrowser(world).send(ADD, { headers: { cookie }, body });
  await runTurn();

  await ctx.table.write({ remove: toPersonKey(data.person_id) });
  goOn();

  expect(await late).toMatchObject(REFUSED);
  expect(await ctx.table.get(toPasskeyKey(key.id))).toBeUndefined();
});

test("a passkey of one person cannot become that of another", async () => {
  const owner = await givenPasskey();
  const { browser: member } = await givenMember(owner, "member");

  expect(await add(member, owner.key)).toMatchObject(REFUSED);
  expect(await signIn(member, owner.key)).toMatchObject(REFUSED);
  expect(await countPasskeys(member)).toBe(0);
});

test("a removed passkey does not come back by a repeat of its creation", async () => {
  const { browser, later } = await givenPasskey();
  const key = createAuthenticator();
  const created = key.create(await start(browser, ADD));
  await finish(browser, ADD, created, "Key");
  later(1_000);
  await browser.send(`DELETE /v1/passkeys/${key.id}`);

  expect(await finish(browser, ADD, created, "Key")).toMatchObject(REFUSED);
  expect(await signIn(browser, key)).toMatchObject(REFUSED);
});

test.each([true, false])(
  "an assertion that is sent twice at once begins one session (a counter: %s)",
  async (counts) => {
    const { world, key } = await givenPasskey(createAuthenticator({ counts }));
    const response = key.use(await start(createBrowser(world), SIGN_IN));

    const sent = await Promise.all(
      [createBrowser(world), createBrowser(world)].map((one) => finish(one, SIGN_IN, response)),
    );

    expect(new Set(sent.map(({ statusCode }) => statusCode))).toEqual(new Set([200, 403]));
    expect(sent.filter(({ headers }) => headers["set-cookie"])).toHaveLength(1);
  },
);

test.each([1, 2])(
  "a copy of an authenticator, whose counter is %d after 2, is refused and logged",
  async (counter) => {
    const { browser, key, person, logged } = await givenPasskey();
    await signIn(browser, key);
    await signIn(browser, key);

    expect(await signIn(browser, key, { counter })).toMatchObject(REFUSED);

    expect(logged).toContainEqual({
      event: "passkey_copied",
      fields: { passkey: key.id, person, counter: 2, counted: counter },
    });
    expect((await signIn(browser, key)).statusCode).toBe(200);
  },
);

test("nobody reports a copy of a passkey without its key", async () => {
  const { browser, key, logged } = await givenPasskey();
  await signIn(browser, key);

  const forged = await signIn(browser, key, { counter: 1, isForged: true });

  expect(forged).toMatchObject(REFUSED);
  expect(logged.filter(({ event }) => event === "passkey_copied")).toEqual([]);
});

test("of two sign-ins at once, that with the lower counter is refused when the other is first", async () => {
  const ctx = await givenPasskey();
  const browser = createBrowser(ctx.world);
  const lower = ctx.key.use(await start(browser, SIGN_IN));
  const { world, goOn } = createStoppingWorld(ctx, 0);
  const late = finish(createBrowser(world), SIGN_IN, lower);
  await runTurn();

  expect((await signIn(browser, ctx.key)).statusCode).toBe(200);
  goOn();

  expect(await late).toMatchObject(REFUSED);
});

test.each([
  [true, 200, 403],
  [false, 503, 200],
])(
  "a sign-in without replies of the table (written: %s) answers %d, and its repeat %d",
  async (written, first, second) => {
    const ctx = await givenPasskey();
    const response = ctx.key.use(await start(createBrowser(ctx.world), SIGN_IN));
    const silent = createBrowser(withLostReplies(ctx, ctx.world, 1, written));

    expect((await finish(silent, SIGN_IN, response)).statusCode).toBe(first);
    expect((await finish(createBrowser(ctx.world), SIGN_IN, response)).statusCode).toBe(second);
  },
);

test("a passkey that was made for another host is refused", async () => {
  const { table, browser, key } = await givenPasskey();
  await table.write({ update: toPasskeyKey(key.id), set: { host: "old.example" } });

  expect(await signIn(browser, key)).toMatchObject(REFUSED);
});

test("a malformed response gets an error that names its field", async () => {
  const { browser } = await givenOwner();

  const sent = await finish(browser, SIGN_IN, { id: "a=", rawId: "a", type: "public-key" });

  expect(sent).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
  expect(sent.error.details).toEqual([
    { field: "response.id", message: "must be base64url without padding" },
    { field: "response.response", message: "is required" },
  ]);
});

test("a person has at most twenty passkeys", async () => {
  const { browser } = await givenOwner();
  const options = await start(browser, ADD);
  for (let count = 0; count < 20; count++)
    expect((await add(browser, createAuthenticator())).statusCode).toBe(201);

  const full = { statusCode: 409, error: { code: "LIMIT_REACHED" } };
  expect(await browser.send(ADD, { body: { action: "start" } })).toMatchObject(full);
  const created = createAuthenticator().create(options);
  expect(await finish(browser, ADD, created, "Key 21")).toMatchObject(full);
});

test("the only way to sign in stays, until there is another passkey or identity", async () => {
  const { browser, key, table, person } = await givenPasskey();
  const remove = (id: string) => browser.send(`DELETE /v1/passkeys/${id}`);
  expect(await remove(key.id)).toMatchObject({
    statusCode: 403,
    error: { message: expect.stringContaining("This is your only way to sign in.") },
  });

  const other = createAuthenticator();
  await add(browser, other);
  expect((await remove(key.id)).statusCode).toBe(200);
  expect((await remove(key.id)).statusCode).toBe(404);
  expect(await signIn(browser, key)).toMatchObject(REFUSED);
  expect((await remove(other.id)).statusCode).toBe(403);

  const identity = { hash: "h", person, issuer: "https://id.example", createdAt: "2026-11-21" };
  await table.transact(buildIdentityWrites(identity));
  expect((await remove(other.id)).statusCode).toBe(200);
});

test("a passkey of another host is no other way to sign in", async () => {
  const { table, browser, key, person } = await givenPasskey();
  const old = createAuthenticator();
  await add(browser, old);
  const sk = `PASSKEY#${old.id}`;
  await table.write({ update: { pk: `PERSON#${person}`, sk }, set: { host: "old.example" } });

  expect((await browser.send(`DELETE /v1/passkeys/${key.id}`)).statusCode).toBe(403);
  expect((await browser.send(`DELETE /v1/passkeys/${old.id}`)).statusCode).toBe(200);
});

test("two requests at once do not remove each other's last passkey", async () => {
  const { browser, key } = await givenPasskey();
  const other = createAuthenticator();
  await add(browser, other);

  const removed = await Promise.all(
    [key, other].map(({ id }) => browser.send(`DELETE /v1/passkeys/${id}`)),
  );

  expect(new Set(removed.map(({ statusCode }) => statusCode))).toEqual(new Set([200, 503]));
  expect(await countPasskeys(browser)).toBe(1);
});

test("nobody removes the passkey of another person", async () => {
  const owner = await givenPasskey();
  await add(owner.browser, createAuthenticator());
  const { browser: member } = await givenMember(owner, "admin");

  expect((await member.send(`DELETE /v1/passkeys/${owner.key.id}`)).statusCode).toBe(404);
});
