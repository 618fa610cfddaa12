import { endpoints } from "@mailproof/api/endpoints";
import { AREA_SCOPES, AREAS, type Area, SCOPES, type Scope } from "@mailproof/core/accounts/scopes";
import { audit } from "@mailproof/core/background/audit";
import { mintSession } from "@mailproof/core/people/sessions";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { listMoves, readCredits, thenConsistent } from "../app/ledger.ts";
import { type Browser, givenMember, givenOwner } from "../app/people.ts";
import { send } from "../app/send.ts";
import { createEmails, createProcessRequest, formatCsv, givenUpload } from "../things/jobs.ts";
import { whenScheduledWorkRuns } from "../things/webhooks.ts";

// The limits that an owner sets: what a member, or the whole account, may spend in a month, and the area of people's work.

const account = "acc_1";
const ACCOUNT = "GET /v1/account";
const BATCH = "POST /v1/verify/batch";
const LIMITS = "PUT /v1/account/limits";
const RESET = "2026-12-01T00:00:00.000Z";

/** An account with an owner, and a member who has these limits. */
const givenLimited = async (limits: object, balance = 100) => {
  const owner = await givenOwner({ balance });
  const member = await givenMember(owner, "member", limits);
  return { ...owner, owner: owner.browser, member: member.browser, person: member.person };
};

type Limited = Awaited<ReturnType<typeof givenLimited>>;

/** The member's browser at a later time, when the first session has ended. */
const givenLater = async ({ world, later, member, person }: Limited, at: string) => {
  later(Date.parse(at) - world.now().getTime());
  const { token, write } = mintSession(world, person);
  await world.table.write(write);
  const headers = { cookie: `__Host-mailproof=${token}` };
  return { ...member, send: (what, sent) => member.send(what, { ...sent, headers }) } as Browser;
};

const whenBatched = (browser: Browser, emails: readonly string[]) =>
  browser.send(BATCH, { account, body: { emails } });

const readAccount = async (browser: Browser) => (await browser.send(ACCOUNT, { account })).data;

const whenLimited = (browser: Browser, body: object) => browser.send(LIMITS, { account, body });

test("a charge beyond a member's monthly limit answers 402, names the limit and costs nothing", async () => {
  const ctx = await givenLimited({ monthly_credits: 3 });
  await whenBatched(ctx.member, createEmails(2));

  const refused = await whenBatched(ctx.member, createEmails(2));
  const fitting = await whenBatched(ctx.member, createEmails(1));

  expect(refused).toMatchObject({
    statusCode: 402,
    error: {
      code: "INSUFFICIENT_CREDITS",
      message: `This costs 2 credits. Your limit is 3 credits a month, and 2 of them are spent. The limit resets at ${RESET}. Nothing was charged.`,
      details: { needed: 2, limit: 3, spent: 2, resets_at: RESET },
    },
  });
  expect(fitting.statusCode).toBe(202);
  expect(listMoves(ctx)).toEqual(["charge 2", "charge 1"]);
});

test("a file beyond a member's limit is refused and makes no job", async () => {
  const ctx = await givenLimited({ monthly_credits: 3 });
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(4)));

  const body = createProcessRequest(fileKey);
  const refused = await ctx.member.send("POST /v1/verify/file", { account, body });

  expect(refused.error?.details).toMatchObject({ needed: 4, limit: 3, spent: 0 });
  expect((await ctx.member.send("GET /v1/jobs", { account })).data.jobs).toEqual([]);
});

test("concurrent requests of a member never exceed the limit together", async () => {
  const ctx = await givenLimited({ monthly_credits: 5 });

  const answers = await Promise.all(
    createEmails(12).map((email) => whenBatched(ctx.member, [email])),
  );

  const accepted = answers.filter(({ statusCode }) => statusCode === 202);
  expect(accepted.length).toBe(5);
  expect(answers.filter(({ statusCode }) => statusCode === 402).length).toBe(7);
  await thenConsistent(ctx);
});

test("the limit of a member leaves keys and other people alone", async () => {
  const ctx = await givenLimited({ monthly_credits: 0 });

  const byKey = await send(ctx.world, BATCH, { key: ctx.liveKey, body: { emails: ["a@x.com"] } });
  const byOwner = await whenBatched(ctx.owner, ["b@x.com"]);

  expect([byKey.statusCode, byOwner.statusCode]).toEqual([202, 202]);
});

test("a cancelled list gives back to the member's limit what it gives back to the account", async () => {
  const ctx = await givenLimited({ monthly_credits: 6 });
  const { data } = await whenBatched(ctx.member, createEmails(5));
  await ctx.member.send(`POST /v1/jobs/${data.job_id}/cancel`, { account });

  expect((await readAccount(ctx.member)).limit).toEqual({
    monthly: { credits: 6, spent: 0, left: 6, resets_at: RESET },
  });
  expect(await readCredits(ctx)).toMatchObject({ available: 100 });
});

test("a limit starts anew each month, and a refund counts in the month of its charge", async () => {
  const ctx = await givenLimited({ monthly_credits: 6 });
  const before = await givenLater(ctx, "2026-11-30T23:59:00.000Z");
  const { data } = await whenBatched(before, createEmails(5));
  const after = await givenLater(ctx, "2026-12-01T00:01:00.000Z");
  await whenBatched(after, createEmails(4));
  await after.send(`POST /v1/jobs/${data.job_id}/cancel`, { account });

  expect((await readAccount(after)).limit.monthly).toMatchObject({ spent: 4, left: 2 });
  const counter = { pk: `SPENT#${account}`, sk: `2026-11#${ctx.person}` };
  expect(await ctx.world.table.get(counter)).toMatchObject({ spent: 0 });
  await thenConsistent(ctx);
});

test("the ledger and the job name the person who caused the charge, and none for a key", async () => {
  const ctx = await givenLimited({});
  const { data } = await whenBatched(ctx.member, ["a@x.com"]);
  await send(ctx.world, BATCH, { key: ctx.liveKey, body: { emails: ["b@x.com"] } });

  const job = await ctx.owner.send(`GET /v1/jobs/${data.job_id}`, { account });
  const ledger = await ctx.owner.send("GET /v1/account/ledger", { account });

  expect(job.data.person_id).toBe(ctx.person);
  const charges = ledger.data.entries.filter(({ type }: { type: string }) => type === "charge");
  const names = charges.map(({ person_id }: { person_id?: string }) => person_id);
  expect(names.toSorted()).toEqual([ctx.person, undefined]);
});

test("the checks of a monitor count against the limit of the member who added it", async () => {
  const ctx = await givenLimited({ monthly_credits: 5 });
  const body = { domain: "example.com" };
  await ctx.member.send("POST /v1/deliverability/monitors", { account, body });
  await whenWorked(ctx);

  const monitors = await ctx.member.send("GET /v1/deliverability/monitors", { account });

  expect(monitors.data.monitors[0].last_problem).toBe("insufficient_credits");
  expect(listMoves(ctx)).toEqual([]);
});

const MONITORS = "POST /v1/deliverability/monitors";

test("a member who shortens the interval of a monitor pays for its checks from then on", async () => {
  const ctx = await givenLimited({ monthly_credits: 5 });
  const body = { domain: "example.com", interval_hours: 168 };
  await ctx.owner.send(MONITORS, { account, body });
  await ctx.member.send(MONITORS, { account, body: { ...body, interval_hours: 24 } });
  await whenWorked(ctx);

  const monitors = await ctx.owner.send("GET /v1/deliverability/monitors", { account });

  expect(monitors.data.monitors[0].last_problem).toBe("insufficient_credits");
});

test("a member who leaves does not free the monitors from the limit", async () => {
  const ctx = await givenLimited({ monthly_credits: 5 });
  await ctx.member.send(MONITORS, { account, body: { domain: "example.com" } });
  await ctx.member.send(`DELETE /v1/members/${ctx.person}`, { account });
  await whenWorked(ctx);

  expect(listMoves(ctx)).toEqual([]);
});

test("the mail test of a member that gets no mail gives its credits back to the limit", async () => {
  const ctx = await givenLimited({ monthly_credits: 2 });
  await ctx.member.send("POST /v1/deliverability/tests", { account });
  ctx.later(3_600_000);
  await whenScheduledWorkRuns(ctx);

  expect((await readAccount(ctx.member)).limit.monthly).toMatchObject({ spent: 0, left: 2 });
});

test("the limit of an account counts what it spent in the month before, by people and keys", async () => {
  const ctx = await givenLimited({});
  const byKey = (count: number) =>
    send(ctx.world, BATCH, { key: ctx.liveKey, body: { emails: createEmails(count) } });
  await byKey(4);

  const set = await whenLimited(ctx.owner, { monthly_credits: 10 });
  await whenBatched(ctx.member, createEmails(3));
  const refused = await byKey(4);
  await byKey(3);

  expect(set.data.account_limit.monthly).toEqual({
    credits: 10,
    spent: 4,
    left: 6,
    resets_at: RESET,
  });
  expect(refused.error).toMatchObject({
    code: "INSUFFICIENT_CREDITS",
    message: expect.stringContaining("The account's limit is 10 credits a month, and 7 of them"),
  });
  expect((await readAccount(ctx.owner)).account_limit.monthly).toMatchObject({ left: 0 });
  await thenConsistent(ctx);
});

test("an account without its limit is charged beyond it, and counts again from a new limit", async () => {
  const ctx = await givenLimited({});
  await whenLimited(ctx.owner, { monthly_credits: 3 });
  await whenBatched(ctx.owner, createEmails(3));
  const without = await whenLimited(ctx.owner, {});
  await whenBatched(ctx.owner, createEmails(5));

  const again = await whenLimited(ctx.owner, { monthly_credits: 20 });

  expect(without.data).toEqual({});
  expect(again.data.account_limit.monthly).toMatchObject({ spent: 8, left: 12 });
  await thenConsistent(ctx);
});

test("only an owner who signed in recently sets the limits of the account", async () => {
  const ctx = await givenLimited({});
  const admin = await givenMember({ ...ctx, browser: ctx.owner }, "admin");
  const byKey = await send(ctx.world, LIMITS, { key: ctx.liveKey, body: {} });
  const byAdmin = await whenLimited(admin.browser, {});
  ctx.later(6 * 60_000);
  const late = await whenLimited(ctx.owner, {});

  expect([byKey.statusCode, byAdmin.statusCode, late.statusCode]).toEqual([403, 403, 403]);
  expect(late.error.details).toEqual({ sign_in_again: true });
});

const scoped = endpoints.filter(({ access }) => SCOPES.some((scope) => scope === access));

const listOutside = (area: Area) =>
  scoped.filter(({ access }) => !AREA_SCOPES[area].includes(access as Scope));

/** The operations that the member's area excludes, by the refusals. */
const listRefused = async ({ member }: Limited, area: Area) => {
  const refused: typeof scoped = [];
  for (const endpoint of scoped) {
    const { route, access } = endpoint;
    const { error } = await member.send(route.replaceAll(/\{\w+\}/g, "none"), { account });
    const what = `Your access to this account is limited to ${area}, which excludes the right ${access}. Nothing was charged.`;
    if (error?.message === what) refused.push(endpoint);
  }
  return refused;
};

test.each(AREAS)("a member limited to %s may send no operation of another area", async (area) => {
  const ctx = await givenLimited({ area });

  expect(await listRefused(ctx, area)).toEqual(listOutside(area));
});

test.each(AREAS)(
  "a member of an account limited to %s may send no operation of another area",
  async (area) => {
    const ctx = await givenLimited({});
    await whenLimited(ctx.owner, { area });

    expect(await listRefused(ctx, area)).toEqual(listOutside(area));
  },
);

test("the area of an account limits neither its owners nor its keys", async () => {
  const ctx = await givenLimited({});
  await whenLimited(ctx.owner, { area: "lists" });
  const checks = "GET /v1/deliverability/checks";

  const byOwner = await ctx.owner.send(checks, { account });
  const byKey = await send(ctx.world, checks, { key: ctx.liveKey });

  expect([byOwner.statusCode, byKey.statusCode]).toEqual([200, 200]);
  expect((await readAccount(ctx.member)).limit).toEqual({ area: "lists" });
});

test("a charge of a key in an account without a limit writes no counter", async () => {
  const ctx = await givenLimited({});
  await send(ctx.world, BATCH, { key: ctx.liveKey, body: { emails: ["a@x.com"] } });

  expect(ctx.table.items().filter(({ pk }) => pk.startsWith("SPENT#"))).toEqual([]);
});

test("the audit finds a counter that differs from the entries that name it", async () => {
  const ctx = await givenLimited({});
  await whenBatched(ctx.member, ["a@x.com"]);
  const counter = { pk: `SPENT#${account}`, sk: `2026-11#${ctx.person}` };
  await ctx.world.table.write({ update: counter, add: { spent: -1 } });

  expect((await audit(ctx.world.table, ctx.world.now())).violations).toEqual([
    {
      account_id: account,
      law: "each counter of a month's spending = the sum of the entries that name it",
    },
  ]);
});
