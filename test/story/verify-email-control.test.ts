import type { AppWorld } from "@mailproof/core/app-world";
import { toPublicJwk } from "@mailproof/lab/issuer";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import {
  createStoppingWorld,
  runTurn,
  withBrokenEngine,
  withLostReplies,
  withSlowEngine,
} from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { listMoves, listStoredItems, readCredits, thenConsistent } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import { givenIssuer, ISSUER, KEYS_URL, NONCE, ORIGIN } from "../things/control.ts";

const EMAIL = "full@example.com";
const MINUTE_MS = 60_000;

const givenVisitor = async (email = EMAIL) => {
  const ctx = await given({ balance: 10 });
  const issuer = await givenIssuer(ctx.world);
  const control = { token: await issuer.present({}, { email }), nonce: NONCE, origin: ORIGIN };
  const body = { email, control };
  return { ...ctx, world: issuer.world, issuer, email, control, body };
};
type Visitor = Awaited<ReturnType<typeof givenVisitor>>;

const verify = (
  ctx: Visitor,
  body: unknown = ctx.body,
  key?: string,
  world: AppWorld = ctx.world,
) => whenVerified(world, ctx.liveKey, body, key);

const CONTROL = { status: "controlled", issuer: ISSUER, profile: "draft-02" };

test("a proof of control returns valid for half a credit without asking the mail server", async () => {
  const ctx = await givenVisitor();

  const { statusCode, data } = await verify(ctx, ctx.body, undefined, withBrokenEngine(ctx));

  expect(statusCode).toBe(200);
  expect(data).toMatchObject({
    email: EMAIL,
    status: "valid",
    reason: "controlled",
    quality_score: 100,
    proof: "controlled",
    control: CONTROL,
    verification: {
      syntax_valid: true,
      smtp_check: false,
      not_known: ["domain_exists", "mx_found", "smtp_check", "mailbox_exists", "catch_all"],
    },
    ai: { typo_suggestion: null, catch_all_confidence: 1 },
    cached: false,
    message: expect.stringContaining("was not asked"),
    credits_used: 0.5,
  });
  expect(listMoves(ctx)).toEqual(["charge 0.5"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 9.5, held: 0, spent: 0.5 });
  await thenConsistent(ctx);
});

test("a proof of control returns valid for a role or disposable address, and the flags keep its kind", async () => {
  const role = await givenVisitor("info@example.com");
  expect((await verify(role)).data).toMatchObject({
    status: "valid",
    reason: "controlled",
    flags: { role_account: true },
  });

  const disposable = await givenVisitor("ann@mailinator.com");
  const zone = { "_email-verification.mailinator.com": { TXT: [`iss=${ISSUER}`] } };
  const issuer = await givenIssuer(disposable.world, { zone });
  const token = await issuer.present({}, { email: disposable.email });
  const body = { email: disposable.email, control: { ...disposable.control, token } };
  expect((await whenVerified(issuer.world, disposable.liveKey, body)).data).toMatchObject({
    status: "valid",
    flags: { disposable: true },
  });
});

test("a verification after a proof of control asks the mail server", async () => {
  const ctx = await givenVisitor();
  await verify(ctx);

  const { data } = await verify(ctx, { email: EMAIL });

  expect(data).toMatchObject({ status: "risky", cached: false, credits_used: 1 });
  expect(data).not.toHaveProperty("control");
  expect(data).not.toHaveProperty("proof");
});

test("a proof of control overrides a cached result", async () => {
  const ctx = await givenVisitor();
  await verify(ctx, { email: EMAIL });

  expect((await verify(ctx)).data).toMatchObject({
    status: "valid",
    cached: false,
    credits_used: 0.5,
  });
});

test.each<[string, (ctx: Visitor) => object]>([
  ["nonce_mismatch", ({ control }) => ({ ...control, nonce: "another" })],
  ["origin_mismatch", ({ control }) => ({ ...control, origin: "http://localhost:3000" })],
  ["malformed", ({ control }) => ({ ...control, token: "no token" })],
  [
    "issuer_unreachable",
    ({ issuer, control }) => {
      issuer.fail(KEYS_URL, "timeout");
      return control;
    },
  ],
])(
  "a proof with the fault %s changes only the field `control` of the response",
  async (status, toControl) => {
    const ctx = await givenVisitor();
    const without = await given({ balance: 10 });

    const bad = await verify(ctx, { email: EMAIL, control: toControl(ctx) });
    const absent = await whenVerified(without.world, without.liveKey, { email: EMAIL });

    expect(bad.data).toEqual({ ...absent.data, control: { status } });
    expect(listMoves(ctx)).toEqual(listMoves(without));

    const cached = await verify(ctx, { email: EMAIL, control: toControl(ctx) });
    expect(cached.data).toMatchObject({ cached: true, credits_used: 0.5, control: { status } });
  },
);

test("a pending response and its repeat contain the proof's outcome", async () => {
  const ctx = await givenVisitor();
  const body = { email: EMAIL, control: { ...ctx.control, nonce: "another" } };
  const first = await verify(ctx, body, "k", withSlowEngine(ctx));
  expect(first.data).toMatchObject({ status: "pending", control: { status: "nonce_mismatch" } });

  await whenWorked(ctx);
  const repeat = await verify(ctx, body, "k");

  expect(repeat.data).toEqual({ ...first.data, credits_used: 0, idempotent_replay: true });
  const { data } = await send(ctx.world, `GET /v1/jobs/${first.data.job_id}`, { key: ctx.liveKey });
  expect(data.status).toBe("completed");
  await thenConsistent(ctx);
});

test("a repeated proof of control returns the same response after the token expired", async () => {
  const ctx = await givenVisitor();
  const first = await verify(ctx, ctx.body, "k");
  ctx.later(10 * MINUTE_MS);

  const repeat = await verify(ctx, ctx.body, "k");

  expect(repeat.data).toEqual({ ...first.data, credits_used: 0, idempotent_replay: true });
  expect(listMoves(ctx)).toEqual(["charge 0.5"]);
});

test.each([
  ["was written", true],
  ["was not written", false],
])("a payment whose lost reply %s is charged once, by the repeat", async (_, written) => {
  const ctx = await givenVisitor();
  const lost = await verify(ctx, ctx.body, "k", withLostReplies(ctx, ctx.world, 1, written));
  expect(lost).toMatchObject({ statusCode: 503, error: { money: "retry_same_key" } });

  const repeat = await verify(ctx, ctx.body, "k");

  expect(repeat.data).toMatchObject({ status: "valid", control: CONTROL });
  expect(listMoves(ctx)).toEqual(["charge 0.5"]);
  await thenConsistent(ctx);
});

test("a repeated proof of control with another token answers 409", async () => {
  const ctx = await givenVisitor();
  await verify(ctx, ctx.body, "k");
  const token = await ctx.issuer.present({}, { email: EMAIL });

  const refused = await verify(ctx, { email: EMAIL, control: { ...ctx.control, token } }, "k");

  expect(refused).toMatchObject({ statusCode: 409, error: { code: "IDEMPOTENCY_KEY_CONFLICT" } });
});

test("a repeated proof of control that takes over unfinished work returns the first request's response", async () => {
  const ctx = await givenVisitor();
  ctx.issuer.fail(KEYS_URL, "timeout");
  const { world, goOn } = createStoppingWorld(ctx, 1);
  const first = verify(ctx, ctx.body, "k", world);
  await runTurn();
  ctx.later(MINUTE_MS);
  ctx.issuer.serve(KEYS_URL, { keys: [toPublicJwk(ctx.issuer.issuerKey)] });

  const repeat = await verify(ctx, ctx.body, "k");

  expect(repeat.data).toMatchObject({
    status: "risky",
    control: { status: "issuer_unreachable" },
    credits_used: 1,
  });
  goOn();
  await first.catch(() => undefined);
  await whenReconciled(ctx);
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
  await thenConsistent(ctx);
});

test("a verification without credits charges nothing, with or without a proof of control", async () => {
  const ctx = await givenVisitor();
  const poor = await given({ balance: 0 });
  const { issuers } = ctx.world;

  const refused = await whenVerified({ ...poor.world, issuers }, poor.liveKey, ctx.body);

  expect(refused).toMatchObject({ statusCode: 402, error: { code: "INSUFFICIENT_CREDITS" } });
  expect(listMoves(poor)).toEqual([]);
});

test("the service stores no token of a proof of control", async () => {
  const ctx = await givenVisitor();
  await verify(ctx, ctx.body, "k");
  await verify(ctx, { email: EMAIL, control: { ...ctx.control, nonce: "another" } }, "l");

  expect(JSON.stringify(listStoredItems(ctx))).not.toContain(ctx.control.token.slice(-40));
});

test("a test key accepts a documented token as proof and asks no server", async () => {
  const ctx = await givenVisitor();
  const control = { ...ctx.control, token: "test-controlled" };

  const { data } = await whenVerified(ctx.world, ctx.testKey, { email: EMAIL, control });
  const other = await whenVerified(ctx.world, ctx.testKey, ctx.body);

  expect(data).toMatchObject({
    status: "valid",
    proof: "controlled",
    control: { status: "controlled", issuer: "issuer.sandbox.test" },
    credits_used: 0,
  });
  expect(other.data).toMatchObject({ status: "risky", control: { status: "malformed" } });
  expect(ctx.issuer.asked).toEqual({ names: [], urls: [] });
});

test.each<[string, object]>([
  ["no token", { nonce: "n", origin: ORIGIN }],
  ["an empty token", { token: "", nonce: "n", origin: ORIGIN }],
  ["a token that is too long", { token: "a".repeat(16_385), nonce: "n", origin: ORIGIN }],
  ["an empty nonce", { token: "t", nonce: "", origin: ORIGIN }],
  ["an origin over http", { token: "t", nonce: "n", origin: "http://shop.example" }],
  ["an origin with a path", { token: "t", nonce: "n", origin: `${ORIGIN}/` }],
  ["an origin in capitals", { token: "t", nonce: "n", origin: "https://SHOP.example" }],
  ["a null origin", { token: "t", nonce: "n", origin: "null" }],
  ["an unknown field", { token: "t", nonce: "n", origin: ORIGIN, email: EMAIL }],
])("a verification whose control has %s is refused without a charge", async (_, control) => {
  const ctx = await givenVisitor();

  const refused = await verify(ctx, { email: EMAIL, control });

  expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
  expect(listMoves(ctx)).toEqual([]);
});
