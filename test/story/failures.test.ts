import type { AppWorld } from "@mailproof/core/app-world";
import type { Requester } from "@mailproof/core/smtp-pool/fairness";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { send, whenFound, whenVerified } from "../app/send.ts";
import { type TestContext, whenBatched } from "../things/jobs.ts";

const broken = () => Promise.reject(new Error("secret detail of ann@example.com"));

test("a bug answers an opaque 500 with the request's id, and the log contains the cause", async () => {
  const { world, liveKey, logged } = await given();
  const faulty = { ...world, table: { ...world.table, query: broken } };

  const answer = await send(faulty, "GET /v1/api-keys", { key: liveKey });

  expect(answer).toMatchObject({
    statusCode: 500,
    error: { code: "INTERNAL", message: "Internal error. Nothing was charged." },
  });
  expect(JSON.stringify(answer)).not.toContain("secret detail");
  expect(answer.headers["x-request-id"]).toBe(answer.request_id);
  expect(logged).toMatchObject([{ event: "failure", fields: { requestId: answer.request_id } }]);
  expect(logged[0]?.fields["cause"]).toBeInstanceOf(Error);
});

test("a request answers a retryable 503 without a charge when the table fails during authentication", async () => {
  const { world, liveKey } = await given();
  const faulty = { ...world, table: { ...world.table, get: broken } };

  expect(await send(faulty, "GET /v1/account", { key: liveKey })).toMatchObject({
    statusCode: 503,
    headers: { "retry-after": "5" },
    error: {
      code: "UNAVAILABLE",
      retryable: true,
      message: expect.stringContaining("Nothing was charged."),
    },
  });
});

test("an unknown route answers 404 and a wrong method 405 with the allowed ones, in the usual envelope", async () => {
  const { world } = await given();

  expect(await send(world, "GET /v2/account")).toMatchObject({
    statusCode: 404,
    success: false,
    error: {
      code: "NOT_FOUND",
      message: "No such route. See /docs for all routes. Nothing was charged.",
    },
  });
  expect(await send(world, "PUT /v1/api-keys")).toMatchObject({
    statusCode: 405,
    headers: { allow: "GET, HEAD, POST" },
    error: { code: "METHOD_NOT_ALLOWED" },
  });
});

test("every response to a key contains the key's remaining requests, including an error response", async () => {
  const { world, liveKey } = await given({ plan: "free" });
  const answers = [
    await send(world, "GET /v1/account", { key: liveKey }),
    await send(world, "GET /v1/account", { key: liveKey, query: { x: "1" } }),
    await send(world, "DELETE /v1/api-keys/none", { key: liveKey }),
  ];

  expect(answers.map(({ headers }) => headers["x-ratelimit-remaining"])).toEqual([
    "59",
    "58",
    "57",
  ]);
  expect(answers.map(({ headers }) => headers["cache-control"])).toEqual(Array(3).fill("no-store"));
});

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

test("POST /v1/verify and POST /v1/find ask the mail server with their account and the priority caller", async () => {
  const { ctx, requesters } = startListening(await given({ balance: 20 }));

  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  await whenFound(ctx.world, ctx.liveKey, {
    first_name: "Ann",
    last_name: "Lee",
    domain: "example.com",
  });

  expect(requesters).toMatchObject(Array(2).fill({ account: ACCOUNT, priority: "caller" }));
});

test("a verification that continues as a job keeps the priority caller", async () => {
  const { ctx, requesters } = startListening(await given({ balance: 20 }));
  await whenVerified(ctx.world, ctx.liveKey, { email: "greylisted@x.com" });

  ctx.later(6 * 60_000);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect(requesters).toMatchObject(Array(2).fill({ account: ACCOUNT, priority: "caller" }));
});

test("the rows of a batch ask the mail server with their account and the priority list", async () => {
  const { ctx, requesters } = startListening(await given({ balance: 20 }));

  await whenBatched(ctx.world, ctx.liveKey, { emails: ["ann@x.com", "bo@x.com"] });
  await whenWorked(ctx);

  expect(requesters).toMatchObject(Array(2).fill({ account: ACCOUNT, priority: "list" }));
});
