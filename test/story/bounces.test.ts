import { openAccount } from "@mailproof/core/accounts/accounts";
import { forgetActivity } from "@mailproof/core/activity/forget";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { withUnreadable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { whenVerified } from "../app/send.ts";
import { createEvent, toAddress, whenEventsSent } from "../things/activity.ts";
import { readJob, whenBatched } from "../things/jobs.ts";

const DAY_MS = 86_400_000;
const UNKNOWN_USER = { bounce_type: "hard", diagnostic: "550 5.1.1 User unknown" } as const;

const createBounce = (email: string, more: object = UNKNOWN_USER) =>
  createEvent("bounce", 0, { email, ...more });

test.each([
  ["catchall.ann@x.com", "catch_all", "invalid"],
  ["valid.ann@x.com", "valid", "risky"],
])(
  "mail to %s, a %s address, bounces, and the next result is %s at once",
  async (email, before, after) => {
    const { world, liveKey } = await given({ balance: 10 });
    const first = await whenVerified(world, liveKey, { email });
    await whenEventsSent(world, liveKey, createBounce(email));

    const second = await whenVerified(world, liveKey, {
      email,
      options: { include_evidence: true },
    });
    const third = await whenVerified(world, liveKey, { email });

    expect(first.data).toMatchObject({ status: before });
    expect(second.data).toMatchObject({ status: after, reason: "bounced", cached: false });
    expect(second.data.evidence.bounced_at).toBe("2026-11-21T00:00:00.000Z");
    expect(third.data).toMatchObject({ status: after, reason: "bounced", cached: true });
  },
);

test("the cached result stays unchanged after a soft bounce or a bounce about the message", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const email = "valid.ann@x.com";
  await whenVerified(world, liveKey, { email });
  await whenEventsSent(
    world,
    liveKey,
    createBounce(email, { bounce_type: "hard", diagnostic: "550 5.7.1 Rejected as spam" }),
    createBounce(email, { bounce_type: "soft" }),
    createBounce(email, {}),
  );

  const { data } = await whenVerified(world, liveKey, { email });

  expect(data).toMatchObject({ status: "valid", cached: true });
});

test("an account's bounces change no verdict of another account", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const other = await openAccount(world, { name: "B", plan: "pro", opening: credits(10) });
  const email = "catchall.ann@x.com";
  await whenVerified(world, liveKey, { email });
  for (let n = 0; n < 20; n++) await whenEventsSent(world, other.liveKey, createBounce(email));

  expect((await whenVerified(world, liveKey, { email })).data).toMatchObject({ cached: true });
  const { data } = await whenVerified(world, other.liveKey, { email });
  expect(data).toMatchObject({ status: "invalid", reason: "bounced" });
});

test("the service forgets a bounce after a month and on erasure of its address", async () => {
  const ctx = await given({ balance: 20 });
  const { world, liveKey, later } = ctx;
  const emails = ["catchall.ann@x.com", "catchall.bo@x.com"];
  await whenEventsSent(world, liveKey, ...emails.map((email) => createBounce(email)));
  await forgetActivity(world, toAddress("catchall.bo@x.com"));
  const statuses = () =>
    Promise.all(
      emails.map(async (email) => (await whenVerified(world, liveKey, { email })).data.status),
    );

  expect(await statuses()).toEqual(["invalid", "catch_all"]);
  later(31 * DAY_MS);
  expect(await statuses()).toEqual(["catch_all", "catch_all"]);
});

test("a batch row shows the bounce of its address", async () => {
  const ctx = await given({ balance: 10 });
  await whenEventsSent(ctx.world, ctx.liveKey, createBounce("catchall.ann@x.com"));
  const emails = ["catchall.ann@x.com", "catchall.bo@x.com"];
  await whenBatched(ctx.world, ctx.liveKey, { emails });

  await whenWorked(ctx);

  const { results } = await readJob(ctx);
  expect(results).toMatchObject([
    { status: "invalid", reason: "bounced" },
    { status: "catch_all", reason: "catch_all" },
  ]);
});

test("a failed read of bounces changes no verdict and fails no request", async () => {
  const ctx = await given({ balance: 10 });
  const email = "catchall.ann@x.com";
  await whenEventsSent(ctx.world, ctx.liveKey, createBounce(email));

  const { data } = await whenVerified(withUnreadable(ctx, "VERDICT#"), ctx.liveKey, { email });

  expect(data).toMatchObject({ status: "catch_all", credits_used: 1 });
});

test("mail to a domain that accepts everybody changes the confidence of the account's next address there", async () => {
  const { world, liveKey } = await given({ balance: 100 });
  const readConfidence = async (email: string) =>
    (await whenVerified(world, liveKey, { email })).data.ai.catch_all_confidence;
  const before = await readConfidence("catchall.zoe@x.com");
  for (let n = 0; n < 20; n++) {
    const email = `catchall+p${n}@x.com`;
    await whenVerified(world, liveKey, { email });
    await whenEventsSent(world, liveKey, createBounce(email, n < 18 ? UNKNOWN_USER : {}));
  }

  expect(await readConfidence("catchall.zoe@x.net")).toBe(before);
  expect(await readConfidence("catchall.zed@x.com")).toBeLessThan(before - 0.1);
});
