import { expect, test } from "vitest";
import { send } from "../send.ts";
import { givenTwo, live } from "./life.ts";

// Goal: a cursor opens the list that it was made for, to whoever it was made for, and nothing else.
// Isolation is told in isolation.test.ts; here it is about those that are one's own, and those that were changed.

const givenReader = async () => {
  const house = await givenTwo();
  return { ...house, own: await live(house, house.liveKey, "reader") };
};

const statusOf = async (
  { world, liveKey }: Awaited<ReturnType<typeof givenReader>>,
  path: string,
  query: Record<string, string>,
) => (await send(world, `GET /v1/jobs${path}`, { key: liveKey, query })).statusCode;

test("it is good for its own list", async () => {
  const house = await givenReader();
  const { job, offset, nextKey } = house.own;

  expect(await statusOf(house, "", { offset })).toBe(200);
  expect(await statusOf(house, `/${job}`, { next_key: nextKey })).toBe(200);
});

test("and for no other route, job or filter of the same account", async () => {
  const house = await givenReader();
  const { job, fileJob, offset, nextKey } = house.own;

  expect(await statusOf(house, "", { offset: nextKey })).toBe(400);
  expect(await statusOf(house, `/${job}`, { next_key: offset })).toBe(400);
  expect(await statusOf(house, `/${fileJob}`, { next_key: nextKey })).toBe(400);
  expect(await statusOf(house, "", { offset, status: "completed" })).toBe(400);
});

const changedAt = (text: string, at: number): string =>
  `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;

test("changed by a single letter, cut, or longer, it is none", async () => {
  const house = await givenReader();
  const { offset } = house.own;
  const changed = [
    ...Array.from(offset, (_letter, at) => changedAt(offset, at)),
    offset.slice(0, -1),
    offset.slice(0, 16),
    `${offset}A`,
    `${offset}=`,
    ` ${offset}`,
    "e30",
    "__proto__",
  ];

  for (const one of changed) expect(await statusOf(house, "", { offset: one }), `${one}`).toBe(400);
});

test("with another secret of the operator's it is none", async () => {
  const house = await givenReader();
  const settings = { ...house.world.settings, cursorSecret: "another secret" };
  const { offset } = house.own;

  expect(await statusOf({ ...house, world: { ...house.world, settings } }, "", { offset })).toBe(
    400,
  );
});
