import { createHash } from "node:crypto";
import type { AppWorld } from "@mailproof/core/app-world";
import { createLocalJWKSet, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { withLostReplies } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { send, whenVerified } from "../app/send.ts";
import type { TestContext } from "../things/jobs.ts";

// A receipt of every verdict: checked here by another library, with the keys that the service publishes.

const DAY_MS = 86_400_000;
const withReceipt = (email: string, options: object = {}) => ({
  email,
  options: { include_receipt: true, ...options },
});

const readKeys = async (world: AppWorld) =>
  JSON.parse((await send(world, "GET /.well-known/jwks.json")).text);

const readReceipt = async (world: AppWorld, receipt: string) => {
  const options = { algorithms: ["EdDSA"], typ: "mailproof-receipt+jwt" };
  return (await jwtVerify<any>(receipt, createLocalJWKSet(await readKeys(world)), options)).payload;
};

const readRow = async ({ world, liveKey: key }: TestContext, job: string) =>
  (await send(world, `GET /v1/jobs/${job}/results/1`, { key })).data;

/** As RFC 8785 has it: the fields of every object by their names. */
const sort = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sort);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, one]) => [name, sort(one)]));
};

const hashEvidence = (evidence: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(sort(evidence)))
    .digest("hex");

const listEntries = async (world: AppWorld, key: string) =>
  (await send(world, "GET /v1/account/ledger", { key })).data.entries;

test("a receipt contains the verdict, the address's hash, the price and the ledger entry that paid", async () => {
  const { world, liveKey, account } = await given({ balance: 10 });

  const { data } = await whenVerified(world, liveKey, withReceipt(" Ann.Lee@Example.com "));

  const claims = await readReceipt(world, data.receipt);
  expect(claims).toEqual({
    aud: account,
    jti: expect.stringMatching(/^job_/),
    iat: Date.parse(data.verified_at) / 1_000,
    mode: "live",
    email_sha256: createHash("sha256").update("ann.lee@example.com").digest("hex"),
    status: "valid",
    reason: "accepted",
    sub_status: null,
    quality_score: 100,
    class: "go",
    verified_at: data.verified_at,
    cached: false,
    credits: 1,
    ledger_entry: `${claims.jti}.end.settle`,
    lists: world.engine.lists.edition,
  });
  expect(await listEntries(world, liveKey)).toContainEqual(
    expect.objectContaining({ entry_id: claims.ledger_entry, type: "settle", credits: 1 }),
  );
});

test("a verdict and a job row contain no receipt without the option", async () => {
  const ctx = await given({ balance: 10 });
  const plain = await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  const pending = await whenVerified(ctx.world, ctx.liveKey, { email: "slow@x.com" });
  await whenWorked(ctx);

  expect(plain.data).not.toHaveProperty("receipt");
  expect(await readRow(ctx, pending.data.job_id)).not.toHaveProperty("receipt");
});

test("a pending response contains no receipt, and the row of its job contains one", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey } = ctx;
  const asked = withReceipt(" Slow@x.com", { include_evidence: true });
  const { data } = await whenVerified(world, liveKey, asked);
  await whenWorked(ctx);

  const row = await readRow(ctx, data.job_id);

  expect([data.status, data.receipt]).toEqual(["pending", undefined]);
  expect(await readReceipt(world, row.receipt)).toMatchObject({
    jti: data.job_id,
    email_sha256: createHash("sha256").update("slow@x.com").digest("hex"),
    status: "valid",
    credits: 1,
    ledger_entry: `${data.job_id}.end.settle`,
    evidence_sha256: hashEvidence(row.evidence),
  });
  expect(await listEntries(world, liveKey)).toContainEqual(
    expect.objectContaining({ entry_id: `${data.job_id}.end.settle`, type: "settle" }),
  );
  await send(world, "DELETE /v1/data", { key: liveKey, query: { email: "slow@x.com" } });
  expect(await readRow(ctx, data.job_id)).not.toHaveProperty("receipt");
});

test("the row of a form's job contains the whole receipt, unlike the visitor's response", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey: key } = ctx;
  const { data } = await send(world, "POST /v1/verify/form", {
    key,
    body: { email: "info@x.com" },
  });
  await whenWorked(ctx);

  const visitors = await readReceipt(world, data.receipt);
  const whole = await readReceipt(world, (await readRow(ctx, data.job_id)).receipt);

  expect(visitors).toMatchObject({ jti: data.job_id, class: "ask" });
  expect(visitors).not.toHaveProperty("status");
  expect(whole).toMatchObject({ jti: data.job_id, class: "ask", status: "role", credits: 1 });
});

test("a verdict whose payment is unknown contains no receipt", async () => {
  const ctx = await given({ balance: 10 });
  const world = withLostReplies(ctx, ctx.world, 2, true);

  const { statusCode, data } = await whenVerified(world, ctx.liveKey, withReceipt("ann@x.com"));

  expect([statusCode, data.status, data.receipt]).toEqual([200, "valid", undefined]);
});

test("the receipt of a cached verdict states that it is cached, its time and its price", async () => {
  const { world, liveKey, later } = await given({ balance: 10 });
  const first = await whenVerified(world, liveKey, { email: "ann@x.com" });
  later(DAY_MS / 2);

  const { data } = await whenVerified(world, liveKey, withReceipt("ANN@x.com"));

  const claims = await readReceipt(world, data.receipt);
  expect(claims).toMatchObject({
    cached: true,
    credits: 0.5,
    ledger_entry: `${claims.jti}.debit.charge`,
    verified_at: first.data.verified_at,
    iat: Date.parse(first.data.verified_at) / 1_000 + DAY_MS / 2 / 1_000,
  });
  expect(await listEntries(world, liveKey)).toContainEqual(
    expect.objectContaining({ entry_id: claims.ledger_entry, type: "charge", credits: 0.5 }),
  );
});

test("the receipt of a free verdict states 0 credits", async () => {
  const { world, liveKey } = await given({ balance: 10 });

  const { data } = await whenVerified(world, liveKey, withReceipt("blocked@x.com"));

  const claims = await readReceipt(world, data.receipt);
  expect(claims).toMatchObject({ status: "unknown", reason: "ip_blocked", credits: 0 });
  expect(await listEntries(world, liveKey)).toContainEqual(
    expect.objectContaining({ entry_id: claims.ledger_entry, type: "release" }),
  );
});

test("the receipt of a test key states its mode and no ledger entry", async () => {
  const { world, testKey } = await given();

  const { data } = await whenVerified(world, testKey, withReceipt("ann@disposable.example.com"));

  expect(await readReceipt(world, data.receipt)).toMatchObject({
    mode: "test",
    credits: 0,
    ledger_entry: null,
    status: data.status,
    class: "no",
  });
});

test("a repeated verification returns the same receipt weeks later", async () => {
  const { world, liveKey, later } = await given({ balance: 10 });
  const first = await whenVerified(world, liveKey, withReceipt("ann@x.com"), "k");
  later(29 * DAY_MS);
  const early = await whenVerified(world, liveKey, withReceipt("ann@x.com"), "k");

  expect(early.data).toEqual({ ...first.data, credits_used: 0, idempotent_replay: true });
});

test("a repeated verification without the receipt option answers 409", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const body = { email: "ann@x.com" };
  await whenVerified(world, liveKey, body, "k");
  const named = await whenVerified(
    world,
    liveKey,
    { ...body, options: { include_receipt: false } },
    "k",
  );
  const other = await whenVerified(world, liveKey, withReceipt("ann@x.com"), "k");

  expect(named.data.idempotent_replay).toBe(true);
  expect(other.statusCode).toBe(409);
});

test("an erasure removes the receipt of its address", async () => {
  const { world, liveKey: key } = await given({ balance: 10 });
  await whenVerified(world, key, withReceipt("ann@x.com"), "k");
  await send(world, "DELETE /v1/data", { key, query: { email: "ann@x.com" } });

  const { statusCode, text } = await whenVerified(world, key, withReceipt("ann@x.com"), "k");

  expect(statusCode).toBe(409);
  expect(text).not.toContain("receipt");
});

test("a receipt with evidence contains the evidence's hash", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const asked = withReceipt("ann@x.com", { include_evidence: true });

  const { data } = await whenVerified(world, liveKey, asked);

  const { evidence_sha256 } = await readReceipt(world, data.receipt);
  expect(evidence_sha256).toBe(hashEvidence(data.evidence));
});

test("a service with a public URL uses it as the issuer", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const publicUrl = "https://api.example.com";
  const named = { ...world, settings: { ...world.settings, publicUrl } };

  const { data } = await whenVerified(named, liveKey, withReceipt("ann@x.com"));

  expect((await readReceipt(world, data.receipt)).iss).toBe(publicUrl);
});

test("the public key document may be cached for an hour and contains no private part", async () => {
  const { world } = await given();

  const { statusCode, headers, text } = await send(world, "GET /.well-known/jwks.json", {
    query: { x: "1" },
  });

  expect(statusCode).toBe(200);
  expect(headers["cache-control"]).toBe("public, max-age=3600");
  expect(JSON.parse(text).keys.flatMap(Object.keys)).not.toContain("d");
});
