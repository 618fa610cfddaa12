import { readFileSync } from "node:fs";
import { SANDBOX_SENDERS } from "@mailproof/core/deliverability/sandbox";
import { verifySingle } from "@mailproof/core/lists/chunk-worker";
import { SANDBOX_DOMAINS, SANDBOX_MAILBOXES } from "@mailproof/core/verify/sandbox";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { listMoves, listOutboxEvents, listStoredItems, readCredits } from "../app/ledger.ts";
import { send, whenChecked, whenFound, whenVerified } from "../app/send.ts";

// Goal: docs/test-keys.md lists the responses to test keys, all of them and nothing else.
// Method: every row of its tables is sent, and every word of the engine's tables is looked for among them.

const page = readFileSync("docs/test-keys.md", "utf8");
const [verifications = "", ofChecks = ""] = page.split("## Results of a deliverability check");
const rows = [
  ...verifications.matchAll(/^\| `([^`]+)` +\| (\d+) +\| (\S+) +\| `?([^` ]+)`? +\|/gm),
].map(([, email = "", answer, status, reason]) => ({
  email,
  answer: Number(answer),
  status,
  reason,
}));

test.each(rows)("$email is $answer $status $reason, as the page says", async (row) => {
  const ctx = await given();

  const { statusCode, data } = await whenVerified(ctx.world, ctx.testKey, { email: row.email });

  const { status = "-", reason = "-" } = data ?? {};
  expect({ email: row.email, answer: statusCode, status, reason }).toEqual(row);
  expect(data?.credits_used ?? 0).toBe(0);
});

test("the page leaves out no word and no domain, and says of no other that it is special", () => {
  const [mailboxes = "", domains = ""] = verifications.split("by the first label");
  const tryKey = (part: string, pattern: RegExp) =>
    [...part.matchAll(pattern)].map(([, word]) => word ?? "");

  expect(tryKey(mailboxes, /^\| `(\w+)@example\.com`/gm).toSorted()).toEqual(
    [...Object.keys(SANDBOX_MAILBOXES), "ann", "info", "spam_trap"].toSorted(),
  );
  expect(tryKey(domains, /^\| `ann@(\w+)\.com`/gm).toSorted()).toEqual(
    Object.keys(SANDBOX_DOMAINS).toSorted(),
  );
});

test.each([
  ["a tag", "invalid+7@example.com", "invalid"],
  ["a number", "invalid1@example.com", "invalid"],
  ["a second word", "invalid.person@your-company.com", "invalid"],
  ["capitals", "INVALID@example.com", "invalid"],
  ["a longer word, which is another", "invalidated@example.com", "valid"],
  ["a domain below another", "ann@mail.nxdomain.com", "valid"],
])("the word is what the local part begins with: %s", async (_case, email, status) => {
  const { world, testKey } = await given();

  expect((await whenVerified(world, testKey, { email })).data.status).toBe(status);
});

test("a test key never reaches the mail system", async () => {
  const { world, testKey } = await given();
  const never = () => Promise.reject(new Error("the network was asked"));
  const engine = { ...world.engine, findMailHosts: never, probe: never };

  const resultRow = await whenVerified({ ...world, engine }, testKey, { email: "ann@example.com" });

  expect(resultRow.statusCode).toBe(200);
});

test("no entry is written and no credit moves, whatever the result", async () => {
  const ctx = await given();
  const { world, testKey, later } = ctx;
  const before = await readCredits(ctx);

  for (const [n, { email }] of rows.entries())
    expect((await whenVerified(world, testKey, { email }, `k${n}`)).statusCode).not.toBe(409);
  for (let minute = 0; minute < 10; minute++) {
    await whenWorked(ctx);
    later(60_000);
    await whenReconciled(ctx);
  }

  expect(listMoves(ctx)).toEqual([]);
  expect(await readCredits(ctx)).toEqual(before);
  expect(listStoredItems(ctx).filter(({ pk }) => pk.startsWith("OPERATION#"))).toEqual([]);
  const pending = rows.filter(({ status }) => status === "pending");
  expect(listOutboxEvents(ctx)).toEqual(pending.map(() => "job.completed"));
});

test("the job of a slow address completes, for test keys to read", async () => {
  const ctx = await given();
  const { world, testKey } = ctx;
  const { data } = await whenVerified(world, testKey, { email: "slow@example.com" });
  await whenWorked(ctx);

  const job = await send(world, `GET /v1/jobs/${data.job_id}`, { key: testKey });

  expect(job.data).toMatchObject({ status: "completed", results: [{ status: "valid" }] });
});

test("a job that fails says that nothing was charged", async () => {
  const { world, testKey } = await given();
  const { data } = await whenVerified(world, testKey, { email: "slow@example.com" });
  await verifySingle.giveUp?.handle(world, { job: data.job_id });

  const job = await send(world, `GET /v1/jobs/${data.job_id}`, { key: testKey });

  expect(job.data).toMatchObject({
    status: "failed",
    error: "All attempts to verify the address failed on our side. Nothing was charged.",
  });
});

test("an Idempotency-Key replays, conflicts and is released as under a live key", async () => {
  const { world, testKey } = await given();
  const ann = { email: "ann@example.com" };
  await whenVerified(world, testKey, ann, "k");
  await whenVerified(world, testKey, { email: "error@example.com" }, "broken");

  const replay = await whenVerified(world, testKey, ann, "k");
  const conflict = await whenVerified(world, testKey, { email: "bo@example.com" }, "k");
  const free = await whenVerified(world, testKey, ann, "broken");

  expect(replay.data).toMatchObject({ credits_used: 0, idempotent_replay: true });
  expect(conflict.statusCode).toBe(409);
  expect(free.data).not.toHaveProperty("idempotent_replay");
});

test("a key without credits behind it is answered all the same", async () => {
  const { world, testKey, liveKey } = await given({ balance: 0 });
  const ann = { email: "ann@example.com" };

  expect((await whenVerified(world, testKey, ann)).statusCode).toBe(200);
  expect((await whenVerified(world, liveKey, ann)).statusCode).toBe(402);
});

const checks = [
  ...ofChecks.matchAll(/^\| `([\w.]+)` +\| (\d+) +\| ([A-F-]) +\| `?([^` ]+)`? +\|/gm),
].map(([, domain = "", answer, grade, shows]) => ({
  domain,
  answer: Number(answer),
  grade,
  shows,
}));

/** The ids of all that is wrong and costs something, the dearest first. */
const findDearest = (data: any): string => {
  const { dns, authentication, reputation } = data;
  const { spf, dkim, dmarc } = authentication;
  const issues = [dns, spf, dkim, dmarc]
    .flatMap((part) => part.issues)
    .filter((issue) => issue.cost_points > 0)
    .toSorted((a, b) => b.cost_points - a.cost_points);
  const listed = reputation.listed_on.map(({ id }: { id: string }) => `LISTED:${id}`);
  return [...listed, ...issues.map(({ id }) => id), "nothing"][0];
};

test.each(checks)("a check of $domain is $answer $grade $shows, as the page says", async (row) => {
  const ctx = await given();

  const { statusCode, data } = await whenChecked(ctx.world, ctx.testKey, {
    domain: row.domain,
  });

  const { grade = "-" } = data ?? {};
  const shows = data ? findDearest(data) : "-";
  expect({ domain: row.domain, answer: statusCode, grade, shows }).toEqual(row);
  expect(listMoves(ctx)).toEqual([]);
});

test("the page leaves out no kind of domain that a check knows", () => {
  expect(checks.map(({ domain }) => domain.split(".")[0] ?? "").toSorted()).toEqual(
    ["example", ...Object.keys(SANDBOX_SENDERS)].toSorted(),
  );
});

const persons = [
  ...page.matchAll(/^\| `(\w+)` +\| (\S+) +\| (\d+) +\| `?([^` ]+)`? +\| `?([^` ]+)`? +\|/gm),
].map(([, first = "", status, answer, email, pattern]) => ({
  first,
  status,
  answer: Number(answer),
  email,
  pattern,
}));

test.each(persons)("a search for $first is $answer $status, as the page says", async (row) => {
  const ctx = await given();
  const body = { first_name: row.first, last_name: "Lee", domain: "example.com" };

  const { statusCode, data } = await whenFound(ctx.world, ctx.testKey, body);

  const { status, email, pattern } = data ?? {};
  const resultRow = { status: status ?? "-", email: email ?? "-", pattern: pattern ?? "-" };
  expect({ first: row.first, answer: statusCode, ...resultRow }).toEqual(row);
  expect(data?.credits_used ?? 0).toBe(0);
  expect(listMoves(ctx)).toEqual([]);
  expect(ctx.table.items().filter(({ sk }) => sk === "NAMING")).toEqual([]);
});

test("the page knows what each word comes to in a search", () => {
  const words = Object.keys(SANDBOX_MAILBOXES).filter((word) => word !== "catch_all");

  expect(persons.map(({ first }) => first.toLowerCase())).toEqual(
    expect.arrayContaining([...words, "ann", "info"]),
  );
});

test("what a live search has taught changes nothing for a test key, nor its replay for a live one", async () => {
  const { world, liveKey, testKey, table } = await given({ balance: 20 });
  await table.write({ put: { pk: "DOMAIN#example.com", sk: "NAMING", flast: 5 } });
  const body = { first_name: "Ann", last_name: "Lee", domain: "example.com" };

  const test = await whenFound(world, testKey, body);
  const live = await whenFound(world, liveKey, body);
  const again = await whenFound(world, testKey, body);

  expect(test.data).toMatchObject({ email: "ann.lee@example.com", credits_remaining: 1_000 });
  expect(live.data).toMatchObject({ email: "alee@example.com", credits_used: 5 });
  expect(live.data).not.toHaveProperty("idempotent_replay");
  expect(again.data).toMatchObject({ idempotent_replay: true, credits_used: 0 });
});
