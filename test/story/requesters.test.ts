import type { AppWorld } from "@mailproof/core/app-world";
import type { Requester } from "@mailproof/core/smtp-pool/requester";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../drain-queues.ts";
import { given } from "../given.ts";
import { type TestContext, whenBatched } from "../jobs.ts";
import { whenFound, whenVerified } from "../send.ts";

// Every question to a mail server says which account it is asked for, and whether a caller waits: the host queues
// serve accounts in turns by it.

const startListening = (ctx: TestContext) => {
  const requesters: (Requester | undefined)[] = [];
  const { engine } = ctx.world;
  const probe: AppWorld["engine"]["probe"] = (question) => {
    requesters.push(question.requester);
    return engine.probe(question);
  };
  const own: TestContext = { ...ctx, world: { ...ctx.world, engine: { ...engine, probe } } };
  return { ctx: own, requesters };
};

const ACCOUNT = "acc_1";

test("POST /v1/verify and POST /v1/find ask for their account, as callers", async () => {
  const { ctx, requesters } = startListening(await given({ balance: 20 }));

  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  await whenFound(ctx.world, ctx.liveKey, {
    first_name: "Ann",
    last_name: "Lee",
    domain: "example.com",
  });

  expect(requesters).toEqual(Array(2).fill({ account: ACCOUNT, priority: "caller" }));
});

test("a verification that goes on as a job is still a caller's", async () => {
  const { ctx, requesters } = startListening(await given({ balance: 20 }));
  await whenVerified(ctx.world, ctx.liveKey, { email: "greylisted@x.com" });

  ctx.later(6 * 60_000);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect(requesters).toEqual(Array(2).fill({ account: ACCOUNT, priority: "caller" }));
});

test("the rows of a batch ask for their account, as a list", async () => {
  const { ctx, requesters } = startListening(await given({ balance: 20 }));

  await whenBatched(ctx.world, ctx.liveKey, { emails: ["ann@x.com", "bo@x.com"] });
  await whenWorked(ctx);

  expect(requesters).toEqual(Array(2).fill({ account: ACCOUNT, priority: "list" }));
});
