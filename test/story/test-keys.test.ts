import { readFileSync } from "node:fs";
import { SANDBOX_DAYS, SANDBOX_REPUTATIONS } from "@mailproof/core/activity/find-activity";
import { SANDBOX_SENDERS } from "@mailproof/core/deliverability/sandbox";
import { verifySingle } from "@mailproof/core/lists/chunk-worker";
import { SANDBOX_DOMAINS, SANDBOX_MAILBOXES } from "@mailproof/core/verify/sandbox";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { listMoves, listOutboxEvents, listStoredItems } from "../app/ledger.ts";
import { send, whenChecked, whenFound, whenVerified } from "../app/send.ts";
import { DAY_MS, whenActivityRead } from "../things/activity.ts";
import { givenChunked, readJob, type TestContext, whenBatched } from "../things/jobs.ts";

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

test.each(rows)(
  "a test verification of $email answers $answer $status $reason, as the sandbox page states",
  async (row) => {
    const ctx = await given();

    const { statusCode, data } = await whenVerified(ctx.world, ctx.testKey, { email: row.email });

    const { status = "-", reason = "-" } = data ?? {};
    expect({ email: row.email, answer: statusCode, status, reason }).toEqual(row);
    expect(data?.credits_used ?? 0).toBe(0);
  },
);

test("the sandbox page lists every special word and domain and no other", () => {
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
  ["a longer word with other meaning", "invalidated@example.com", "valid"],
  ["a domain below another", "ann@mail.nxdomain.com", "valid"],
])(
  "the sandbox recognizes a word at the start of the local part: %s",
  async (_case, email, status) => {
    const { world, testKey } = await given();

    expect((await whenVerified(world, testKey, { email })).data.status).toBe(status);
  },
);

test("a failed test job states that nothing was charged", async () => {
  const { world, testKey } = await given();
  const { data } = await whenVerified(world, testKey, { email: "slow@example.com" });
  await verifySingle.giveUp?.handle(world, { job: data.job_id });

  const job = await send(world, `GET /v1/jobs/${data.job_id}`, { key: testKey });

  expect(job.data).toMatchObject({
    status: "failed",
    error: "All attempts to verify the address failed on our side. Nothing was charged.",
  });
});

test("an Idempotency-Key under a test key replays, conflicts and becomes free as under a live key", async () => {
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

test("a test key verifies in an account without credits", async () => {
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

test.each(checks)(
  "a test check of $domain answers $answer $grade $shows, as the sandbox page states",
  async (row) => {
    const ctx = await given();

    const { statusCode, data } = await whenChecked(ctx.world, ctx.testKey, {
      domain: row.domain,
    });

    const { grade = "-" } = data ?? {};
    const shows = data ? findDearest(data) : "-";
    expect({ domain: row.domain, answer: statusCode, grade, shows }).toEqual(row);
    expect(listMoves(ctx)).toEqual([]);
  },
);

test("the sandbox page lists every kind of domain that a check knows", () => {
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

test.each(persons)(
  "a test search for $first answers $answer $status, as the sandbox page states",
  async (row) => {
    const ctx = await given();
    const body = { first_name: row.first, last_name: "Lee", domain: "example.com" };

    const { statusCode, data } = await whenFound(ctx.world, ctx.testKey, body);

    const { status, email, pattern } = data ?? {};
    const resultRow = { status: status ?? "-", email: email ?? "-", pattern: pattern ?? "-" };
    expect({ first: row.first, answer: statusCode, ...resultRow }).toEqual(row);
    expect(data?.credits_used ?? 0).toBe(0);
    expect(listMoves(ctx)).toEqual([]);
    expect(ctx.table.items().filter(({ sk }) => sk === "NAMING")).toEqual([]);
  },
);

test("the sandbox page lists the search result of each special word", () => {
  const words = Object.keys(SANDBOX_MAILBOXES).filter((word) => word !== "catch_all");

  expect(persons.map(({ first }) => first.toLowerCase())).toEqual(
    expect.arrayContaining([...words, "ann", "info"]),
  );
});

test("the pattern of a live search changes no search of a test key", async () => {
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

// Goal: docs/test-keys.md is true about addresses that are attempted again: an integration test sees them wait, and
// does not wait itself.
// Method: every row of its table is sent in a batch, and the seconds are counted until the job is done.

const [, section = ""] = page.split("## Retries");
const retried = [
  ...section.matchAll(/^\| `([^`]+)` +\| `([^`]+)` +\| (\d) +\| `(\w+)`, `(\w+)`/gm),
].map(([, email = "", waitsFor = "", attempts, status, reason]) => ({
  email,
  waitsFor,
  attempts: Number(attempts),
  status,
  reason,
}));

/** What the job says of the rows that wait, second by second, until it is done. */
const whenSecondsElapse = async (ctx: TestContext): Promise<unknown[]> => {
  const waiting: unknown[] = [];
  for (let second = 0; second < 10; second++) {
    await whenWorked(ctx);
    const { status, deferred } = await readJob(ctx, "job_1", ctx.testKey);
    if (status === "completed" || status === "failed") return waiting;
    waiting.push(deferred);
    ctx.later(1_000);
  }
  throw new Error("the job takes longer than ten seconds");
};

test("the sandbox page's table of retried addresses contains four rows", () => {
  expect(retried.map(({ email }) => email)).toEqual([
    "greylisted@example.com",
    "unknown@example.com",
    "ann@dnsfail.com",
    "error@example.com",
  ]);
});

test.each(retried)(
  "a row of $email waits a second for each of $waitsFor and ends as $status",
  async (row) => {
    const ctx = await givenChunked();
    const emails = ["ann@example.com", row.email];
    await whenBatched(ctx.world, ctx.testKey, { emails });

    const waiting = await whenSecondsElapse(ctx);

    expect(waiting).toHaveLength(row.attempts - 1);
    for (const [second, deferred] of waiting.entries())
      expect(deferred).toEqual({
        count: 1,
        by_reason: { [row.waitsFor]: 1 },
        next_attempt_at: `2026-11-21T00:00:0${second + 1}.000Z`,
      });
    const { results } = await readJob(ctx, "job_1", ctx.testKey);
    expect(results).toMatchObject([
      { email: "ann@example.com", status: "valid" },
      { email: row.email, status: row.status, reason: row.reason },
    ]);
    expect(listMoves(ctx)).toEqual([]);
  },
);

test.each(retried.filter(({ email }) => email !== "error@example.com"))(
  "a verification of $email is pending, and its job ends as $status",
  async ({ email, attempts, status, reason }) => {
    const ctx = await givenChunked();

    const response = await whenVerified(ctx.world, ctx.testKey, { email });

    expect(response.data).toMatchObject({ status: "pending", job_id: "job_1", credits_used: 0 });
    // The first attempt was the request's own.
    expect(await whenSecondsElapse(ctx)).toHaveLength(attempts - 1);
    const job = await readJob(ctx, "job_1", ctx.testKey);
    expect(job).toMatchObject({ status: "completed", results: [{ status, reason }] });
    expect(listMoves(ctx)).toEqual([]);
  },
);

test("a test job whose rows all fail emits job.failed after three seconds", async () => {
  const ctx = await givenChunked();
  const emails = ["error@example.com", "error+2@example.com", "error+3@example.com"];
  await whenBatched(ctx.world, ctx.testKey, { emails });

  expect(await whenSecondsElapse(ctx)).toHaveLength(3);

  expect(await readJob(ctx, "job_1", ctx.testKey)).toMatchObject({
    status: "failed",
    error: expect.stringContaining("Nothing was charged."),
    progress: { total: 3, unknown: 3 },
  });
  expect(listOutboxEvents(ctx)).toEqual(["job.failed"]);
});

test.each([
  [0, "unknown"],
  [5, "unknown"],
  [6, "valid"],
])(
  "a greylisted address with max_wait_minutes %i under a test key ends as %s",
  async (max_wait_minutes, status) => {
    const ctx = await givenChunked();
    const body = { emails: ["greylisted@example.com"], options: { max_wait_minutes } };
    await whenBatched(ctx.world, ctx.testKey, body);

    await whenSecondsElapse(ctx);

    expect(await readJob(ctx, "job_1", ctx.testKey)).toMatchObject({ results: [{ status }] });
  },
);

// Goal: docs/test-keys.md lists the activity that test keys get, all of it and nothing else.
// Method: every row of its tables is asked for, and every word of our own tables is looked for among them.

const [, activitySection = ""] = page.split("## Activity");
const getRows = (first: RegExp) =>
  activitySection
    .split("\n")
    .filter((line) => first.test(line))
    .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")))
    .map(([, name = "", level = "", third = ""]) => ({ name, level, third }));

const addresses = getRows(/^\| `\w+@/);
const domains = getRows(/^\| `[\w.]+`/);

test.each(addresses)(
  "the test activity of $name shows level $level and last open $third, as the sandbox page states",
  async (row) => {
    const { world, testKey } = await given();

    const { activity } = (await whenActivityRead(world, testKey, row.name)).data;
    const { data } = await send(world, "POST /v1/activity/batch", {
      key: testKey,
      body: { emails: [row.name] },
    });

    const days = Number.parseInt(row.third, 10);
    const lastOpen = new Date(world.now().getTime() - days * DAY_MS);
    expect(activity.engagement_level).toBe(row.level);
    expect(activity.last_open?.slice(0, 10) ?? "never").toBe(
      row.third === "never" ? "never" : lastOpen.toISOString().slice(0, 10),
    );
    expect(data.results[0].activity).toEqual(activity);
  },
);

test.each(domains)(
  "the test reputation of $name shows level $level and listed $third, as the sandbox page states",
  async (row) => {
    const { world, testKey } = await given();
    const never = () => Promise.reject(new Error("the network was asked"));
    const names = { ...world.names, dns: never, listDns: never };

    const { data } = await send({ ...world, names }, `GET /v1/activity/domain/${row.name}`, {
      key: testKey,
    });

    expect(data.reputation.level).toBe(row.level);
    expect(String(data.blacklist_status.listed)).toBe(row.third);
  },
);

test("the sandbox page lists every special word of activity and every label of reputation", () => {
  expect(addresses.map(({ name }) => name.split("@")[0])).toEqual(Object.keys(SANDBOX_DAYS));
  expect(domains.slice(1).map(({ name }) => name.split(".")[0])).toEqual(
    Object.keys(SANDBOX_REPUTATIONS),
  );
});

test("a word unknown to the sandbox returns the same mock activity each time, which is never stored", async () => {
  const ctx = await given();
  const before = listStoredItems(ctx);

  const first = await whenActivityRead(ctx.world, ctx.testKey, "constructor@example.com");
  const second = await whenActivityRead(ctx.world, ctx.testKey, "constructor@example.com");

  expect(first.data.activity.engagement_level).toBe("high");
  expect(second.data).toEqual(first.data);
  expect(listStoredItems(ctx)).toEqual(before);
});

test("a test key's activity a year from now equals today's", async () => {
  const { world, testKey, later } = await given();
  later(365 * DAY_MS);

  expect(
    (await whenActivityRead(world, testKey, "medium@x.com")).data.activity.engagement_level,
  ).toBe("medium");
});
