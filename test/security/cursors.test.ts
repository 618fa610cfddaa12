import { expect, test } from "vitest";
import { send } from "../send.ts";
import { setupTwoAccounts, useEverything } from "./used-account.ts";

// Goal: a cursor opens the list that it was made for, to the account that it was made for, and nothing else.
// isolation.test.ts has other accounts' cursors; here are an account's own, and changed ones.

const setupReader = async () => {
  const ctx = await setupTwoAccounts();
  return { ...ctx, own: await useEverything(ctx, ctx.liveKey, "reader") };
};

const getStatus = async (
  { world, liveKey }: Awaited<ReturnType<typeof setupReader>>,
  path: string,
  query: Record<string, string>,
) => (await send(world, `GET /v1/jobs${path}`, { key: liveKey, query })).statusCode;

test("it is good for its own list", async () => {
  const ctx = await setupReader();
  const { job, offset, nextKey } = ctx.own;

  expect(await getStatus(ctx, "", { offset })).toBe(200);
  expect(await getStatus(ctx, `/${job}`, { next_key: nextKey })).toBe(200);
});

test("and for no other route, job or filter of the same account", async () => {
  const ctx = await setupReader();
  const { job, fileJob, offset, nextKey } = ctx.own;

  expect(await getStatus(ctx, "", { offset: nextKey })).toBe(400);
  expect(await getStatus(ctx, `/${job}`, { next_key: offset })).toBe(400);
  expect(await getStatus(ctx, `/${fileJob}`, { next_key: nextKey })).toBe(400);
  expect(await getStatus(ctx, "", { offset, status: "completed" })).toBe(400);
});

const changeAt = (text: string, at: number): string =>
  `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;

test("changed by a single letter, cut, or longer, it is none", async () => {
  const ctx = await setupReader();
  const { offset } = ctx.own;
  const changed = [
    ...Array.from(offset, (_letter, at) => changeAt(offset, at)),
    offset.slice(0, -1),
    offset.slice(0, 16),
    `${offset}A`,
    `${offset}=`,
    ` ${offset}`,
    "e30",
    "__proto__",
  ];

  for (const one of changed) expect(await getStatus(ctx, "", { offset: one }), `${one}`).toBe(400);
});

test("with another secret of the operator's it is none", async () => {
  const ctx = await setupReader();
  const settings = { ...ctx.world.settings, cursorSecret: "another secret" };
  const { offset } = ctx.own;

  expect(await getStatus({ ...ctx, world: { ...ctx.world, settings } }, "", { offset })).toBe(400);
});
