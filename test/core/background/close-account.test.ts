import { findAccount, updateAccount } from "@mailproof/core/accounts/accounts";
import {
  closeAccount,
  disableAccount,
  enableAccount,
} from "@mailproof/core/background/close-account";
import { CHUNKS_QUEUE } from "@mailproof/core/rows/chunk-messages";
import { expect, test } from "vitest";
import { whenQuiet, whenReconciled, whenWorked } from "../../app/drain-queues.ts";
import { createProcessGoneAfter, withMessageFates } from "../../app/faulty-worlds.ts";
import { readCredits, thenConsistent } from "../../app/ledger.ts";
import { send, whenVerified } from "../../app/send.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  givenChunked,
  givenUpload,
  readJob,
  type TestContext,
  whenBatched,
  whenFiled,
  whenProcessed,
} from "../../things/jobs.ts";

const readAccount = ({ world, liveKey }: TestContext, key = liveKey) =>
  send(world, "GET /v1/account", { key });

test("the keys of a disabled account answer 403 without a charge, and work again when the operator enables the account", async () => {
  const ctx = await givenChunked();
  await disableAccount(ctx.world, ctx.account);

  const refused = await Promise.all([
    whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" }),
    readAccount(ctx, ctx.testKey),
  ]);
  await enableAccount(ctx.world, ctx.account);

  for (const { statusCode, error } of refused) {
    expect(statusCode).toBe(403);
    expect(error).toMatchObject({ code: "FORBIDDEN", money: "nothing_charged" });
    expect(error.message).toContain("This account is disabled.");
  }
  expect((await readAccount(ctx)).data.credits).toMatchObject({ available: 100, spent: 0 });
});

test("disabling an account cancels the open jobs of its live and test keys, and refunds the rows without a result", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["ann@x.com", "greylisted@x.com"] });
  await whenWorked(ctx);
  await whenProcessed(ctx, createEmails(3));
  await whenBatched(ctx.world, ctx.testKey, { emails: createEmails(2) });

  const result = await disableAccount(ctx.world, ctx.account);
  await whenQuiet(ctx);

  expect(result).toEqual({ cancelled: 3, left: [] });
  expect(await readCredits(ctx)).toMatchObject({ available: 99, spent: 1, held: 0 });
  await enableAccount(ctx.world, ctx.account);
  expect(await readJob(ctx)).toMatchObject({ status: "cancelled", progress: { processed: 1 } });
  await thenConsistent(ctx);
});

test("the worker cancels a job that a request created after its account was disabled", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(5) });
  // As if the request had been admitted just before.
  await updateAccount(ctx.table, ctx.account, { disabledAt: ctx.world.now().toISOString() });

  await whenWorked(ctx);

  await enableAccount(ctx.world, ctx.account);
  expect(await readJob(ctx)).toMatchObject({ status: "cancelled", progress: { processed: 0 } });
  expect(await readCredits(ctx)).toMatchObject({ available: 100, spent: 0 });
  await thenConsistent(ctx);
});

test("the worker cancels a single verification that continues as a job of a disabled account", async () => {
  const ctx = await givenChunked();
  const slow = { email: "slow+ann@example.com", options: { timeout_ms: 100 } };
  const { data } = await whenVerified(ctx.world, ctx.liveKey, slow);
  await updateAccount(ctx.table, ctx.account, { disabledAt: ctx.world.now().toISOString() });

  await whenWorked(ctx);

  expect(data.job_id).toBeDefined();
  expect(await readCredits(ctx)).toMatchObject({ available: 100, spent: 0, held: 0 });
  await thenConsistent(ctx);
});

test("the response lists a job still in the queue, and the job's worker cancels the job later", async () => {
  const ctx = await givenChunked();
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(4)));
  let left: readonly string[] = [];
  const world = withMessageFates(ctx, () => "unheard");
  const during = {
    ...world,
    queue: {
      ...world.queue,
      sendMany: async (...sent: Parameters<typeof world.queue.sendMany>) => {
        if (sent[0] === CHUNKS_QUEUE.name && left.length === 0)
          left = (await disableAccount(ctx.world, ctx.account)).left;
        return ctx.world.queue.sendMany(...sent);
      },
    },
  };

  await whenFiled(during, ctx.liveKey, createProcessRequest(fileKey));
  await whenQuiet(ctx);

  expect(left).toEqual(["job_1"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 100, spent: 0, held: 0 });
  await thenConsistent(ctx);
});

test("a monitor of a disabled account runs no checks and costs nothing, and continues when the account is enabled", async () => {
  const ctx = await givenChunked();
  const body = { domain: "example.com" };
  await send(ctx.world, "POST /v1/deliverability/monitors", { key: ctx.liveKey, body });
  await disableAccount(ctx.world, ctx.account);
  await whenWorked(ctx);
  const whileDisabled = await readCredits(ctx);

  await enableAccount(ctx.world, ctx.account);
  ctx.later(3_600_000);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect(whileDisabled).toMatchObject({ available: 100, spent: 0 });
  expect(await readCredits(ctx)).toMatchObject({ available: 90, spent: 10 });
});

test("a closed account loses its keys, monitors and webhooks, and stays closed", async () => {
  const ctx = await givenChunked();
  const key = ctx.liveKey;
  const monitor = { domain: "example.com" };
  await send(ctx.world, "POST /v1/deliverability/monitors", { key, body: monitor });
  const webhook = { url: "https://example.com/hook", events: ["job.completed"] };
  await send(ctx.world, "POST /v1/webhooks", { key, body: webhook });
  await whenBatched(ctx.world, key, { emails: createEmails(5) });

  const result = await closeAccount(ctx.world, ctx.account);
  await whenWorked(ctx);

  expect(result).toEqual({ keys: 2, members: 0, monitors: 1, webhooks: 1, cancelled: 1, left: [] });
  expect((await readAccount(ctx)).statusCode).toBe(401);
  expect(await readCredits(ctx)).toMatchObject({ available: 100, spent: 0 });
  await expect(enableAccount(ctx.world, ctx.account)).rejects.toMatchObject({
    code: "FORBIDDEN",
    message: expect.stringContaining(`The account ${ctx.account} is closed.`),
  });
  expect(await closeAccount(ctx.world, ctx.account)).toMatchObject({ keys: 0, cancelled: 0 });
  await thenConsistent(ctx);
});

test("authentication treats a key as unknown when the key outlived the closing of its account", async () => {
  const ctx = await givenChunked();
  await updateAccount(ctx.table, ctx.account, { closedAt: ctx.world.now().toISOString() });

  expect((await readAccount(ctx)).statusCode).toBe(401);
});

test("an interrupted closing lets the account accept no new work, and a second closing completes it", async () => {
  for (let effects = 1; ; effects++) {
    const ctx = await givenChunked();
    await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(5) });
    await whenProcessed(ctx, createEmails(3));
    const { world, effects: done } = createProcessGoneAfter(ctx, effects);

    void closeAccount(world, ctx.account);
    await new Promise((resolve) => setImmediate(resolve));
    const between = await readAccount(ctx);
    await closeAccount(ctx.world, ctx.account);
    await whenQuiet(ctx);

    expect(between.statusCode, `after ${effects} effects`).toBe(401);
    expect(await readCredits(ctx)).toMatchObject({ available: 100, spent: 0, held: 0 });
    await thenConsistent(ctx);
    if (done() < effects) break;
  }
});

test("closing an unknown account throws an error with the account's id", async () => {
  const { world, table } = await givenChunked();

  for (const act of [disableAccount, closeAccount, enableAccount])
    await expect(act(world, "acc_none")).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await findAccount(table, "acc_none")).toBeUndefined();
});
