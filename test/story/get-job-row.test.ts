import { setRetention } from "@mailproof/core/accounts/retention";
import { BLOB_RETENTION_DAYS } from "@mailproof/core/ports/blobs";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { send, whenVerified } from "../app/send.ts";
import { givenChunked, type TestContext, whenBatched } from "../things/jobs.ts";

// One row of a job, with the evidence of its verdict.

const EMAILS = ["ann@x.com", "invalid@x.com", "greylisted@x.com", "bo@x.com"];
const DAY_MS = 86_400_000;

const givenJob = async (): Promise<TestContext> => {
  const ctx = await givenChunked({ rows: 3 });
  await whenBatched(ctx.world, ctx.liveKey, { emails: EMAILS });
  await whenWorked(ctx);
  return ctx;
};

const whenRead = (
  { world, liveKey }: Pick<TestContext, "world" | "liveKey">,
  row: number | string,
  { job = "job_1", key = liveKey } = {},
) => send(world, `GET /v1/jobs/${job}/results/${row}`, { key });

const listEvidence = ({ blobs }: TestContext): readonly string[] =>
  blobs.keys().filter((key) => key.startsWith("evidence/"));

test("a row of a list shows its result and the evidence of a single verification", async () => {
  const ctx = await givenJob();

  const { statusCode, data } = await whenRead(ctx, 2);

  const single = await whenVerified(ctx.world, ctx.liveKey, {
    email: "invalid@x.com",
    options: { include_evidence: true },
  });
  const { credits_used, cached, ...expected } = single.data;
  expect([credits_used, cached]).toEqual([1, false]);
  expect(statusCode).toBe(200);
  expect(data).toEqual({ ...expected, row: 2, verified_at: data.verified_at });
  expect(data.evidence).toMatchObject({ rule: "sandbox", mail_host: "mx.sandbox.test" });
  expect(data.evidence.score.length).toBeGreaterThan(0);
});

test("a job of one address shows the evidence that its request asked for", async () => {
  const ctx = await givenChunked();
  const options = { include_evidence: true };
  await whenVerified(ctx.world, ctx.liveKey, { email: "slow@x.com", options });
  await whenWorked(ctx);

  const { data } = await whenRead(ctx, 1);

  expect(data).toMatchObject({ email: "slow@x.com", row: 1, evidence: { rule: "sandbox" } });
});

test("the service keeps a row's evidence for seven days and its result for longer", async () => {
  const ctx = await givenJob();
  ctx.later(BLOB_RETENTION_DAYS["evidence/"] * DAY_MS - 1);
  const before = await whenRead(ctx, 1);
  ctx.later(1);

  const { statusCode, data } = await whenRead(ctx, 1);

  expect(before.data).toHaveProperty("evidence");
  expect(statusCode).toBe(200);
  expect(data.email).toBe("ann@x.com");
  expect(data).not.toHaveProperty("evidence");
});

test("the service stores no evidence for an account that keeps results for fewer days", async () => {
  const ctx = await givenChunked({ rows: 3 });
  await setRetention(ctx.world.table, ctx.account, 6);
  await whenBatched(ctx.world, ctx.liveKey, { emails: EMAILS });
  await whenWorked(ctx);

  const { data } = await whenRead(ctx, 1);

  expect(data.email).toBe("ann@x.com");
  expect(data).not.toHaveProperty("evidence");
  expect(listEvidence(ctx)).toEqual([]);
});

test("a row shows its result when its evidence cannot be stored or is damaged", async () => {
  const ctx = await givenChunked({ rows: 3 });
  const { world } = ctx;
  const put: typeof world.blobs.put = async (key, content) => {
    if (key.startsWith("evidence/")) throw new Error("the disk is full");
    return world.blobs.put(key, content);
  };
  const full = { ...ctx, world: { ...world, blobs: { ...world.blobs, put } } };
  await whenBatched(full.world, ctx.liveKey, { emails: EMAILS });
  await whenWorked(full);

  const { statusCode, data } = await whenRead(ctx, 1);

  expect([statusCode, data.status]).toEqual([200, "valid"]);
  expect(data).not.toHaveProperty("evidence");
  expect(ctx.logged.map(({ event }) => event)).toContain("evidence_not_stored");
});

test("erasing an address removes the evidence of its chunk", async () => {
  const ctx = await givenJob();
  expect(listEvidence(ctx)).toHaveLength(2);

  await send(ctx.world, "POST /v1/jobs/job_1/cancel", { key: ctx.liveKey });
  await send(ctx.world, "DELETE /v1/data", { key: ctx.liveKey, query: { email: "ann@x.com" } });

  const [erased, beside, other] = await Promise.all([1, 2, 4].map((row) => whenRead(ctx, row)));
  expect(erased?.data).toMatchObject({ email: "[erased]", row: 1 });
  expect(erased?.data).not.toHaveProperty("evidence");
  expect(beside?.data).not.toHaveProperty("evidence");
  expect(other?.data).toHaveProperty("evidence");
  expect(listEvidence(ctx)).toHaveLength(1);
});

test.each<[string, number | string]>([
  ["that waits for another attempt", 3],
  ["beyond the list", 99],
  ["with a word as its number", "one"],
  ["before the first", 0],
])("a read of a row %s answers 404", async (_case, row) => {
  const ctx = await givenJob();

  const { statusCode, error } = await whenRead(ctx, row);

  expect(statusCode).toBe(404);
  expect(error.message).toContain("no result yet");
});
