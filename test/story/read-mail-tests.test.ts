import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { withUnreadable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import {
  createMail,
  readTest,
  TESTS,
  whenMailArrives,
  whenTestCreated,
} from "../things/mail-tests.ts";

const list = (
  { world, liveKey: key }: Pick<Awaited<ReturnType<typeof given>>, "world" | "liveKey">,
  query: Readonly<Record<string, string>> = {},
) => send(world, `GET ${TESTS}`, { key, query });

/** Tests of which each second one has a mail from one domain, and the others from another. */
const givenTests = async (count: number) => {
  const ctx = await given({ balance: 100 });
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const { data } = await whenTestCreated(ctx.world, ctx.liveKey);
    const from = n % 2 === 0 ? "a@even.example" : "a@odd.example";
    await whenMailArrives(ctx.world, data.address, createMail(ctx.world.now(), { from }));
    ids.unshift(data.test_id);
    ctx.later(1_000);
  }
  await whenWorked(ctx);
  return { ...ctx, ids };
};

const getIds = (data: any): string[] => data.tests.map((one: any) => one.test_id);

test("200: the tests are listed newest first, a page at a time", async () => {
  const ctx = await givenTests(5);

  const first = await list(ctx, { limit: "2" });
  const second = await list(ctx, { limit: "2", offset: first.data.next_offset });
  const third = await list(ctx, { limit: "2", offset: second.data.next_offset });

  expect([first, second, third].map(({ data }) => getIds(data))).toEqual([
    ctx.ids.slice(0, 2),
    ctx.ids.slice(2, 4),
    ctx.ids.slice(4),
  ]);
  expect(first.data.has_more).toBe(true);
  expect(third.data).toMatchObject({ has_more: false });
  expect(third.data).not.toHaveProperty("next_offset");
  expect(first.data.tests[0]).not.toHaveProperty("report");
});

test("the tests of one domain are those whose mail came from it", async () => {
  const ctx = await givenTests(5);

  const { data } = await list(ctx, { domain: "Odd.example", limit: "1" });
  const next = await list(ctx, { domain: "odd.example", limit: "1", offset: data.next_offset });

  expect([...getIds(data), ...getIds(next.data)]).toEqual([ctx.ids[1], ctx.ids[3]]);
  expect(data.tests[0].from_domain).toBe("odd.example");
  expect((await list(ctx, { domain: "none.example" })).data.tests).toEqual([]);
});

test("400: a cursor of another list, and a meaningless limit or domain", async () => {
  const ctx = await givenTests(3);
  const { data } = await list(ctx, { limit: "1" });

  for (const query of [
    { offset: "x" },
    { offset: data.next_offset, domain: "odd.example" },
    { limit: "0" },
    { domain: "no domain" },
    { x: "1" },
  ])
    expect((await list(ctx, query as Record<string, string>)).statusCode).toBe(400);
});

test("200: a test that waits has no report; one whose mail was assessed has one", async () => {
  const ctx = await given({ balance: 10 });
  const { data: waiting } = await whenTestCreated(ctx.world, ctx.liveKey);
  const { data: received } = await whenTestCreated(ctx.world, ctx.liveKey);
  await whenMailArrives(ctx.world, received.address);
  await whenWorked(ctx);

  const { statusCode, data } = await readTest(ctx.world, ctx.liveKey, waiting.test_id);
  expect([statusCode, data.test_id, data.status]).toEqual([200, waiting.test_id, "waiting"]);
  expect(data).not.toHaveProperty("report");
  expect((await readTest(ctx.world, ctx.liveKey, received.test_id)).data).toHaveProperty("report");
});

test("a test that cannot be read is 500", async () => {
  const ctx = await given({ balance: 10 });
  const { liveKey: key } = ctx;
  const { data } = await whenTestCreated(ctx.world, key);
  const route = `GET ${TESTS}/${data.test_id}`;

  expect((await send(withUnreadable(ctx, "MAILTEST#"), route, { key })).statusCode).toBe(500);
});
