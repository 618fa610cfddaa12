import { createListReads, type ListReads } from "@mailproof/core/runtime/list-reads";
import { expect, test } from "vitest";
import { START } from "../../app/given.ts";

/** Reads that go on until they are ended, and the names of those that began. */
const setupReads = () => {
  let nowMs = START.getTime();
  const reads: ListReads = createListReads(() => new Date(nowMs));
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const read = (account: string, name: string, rows = 1): Promise<string> =>
    reads.run({ account, name, rows, bytes: 50_000_000 }, async () => {
      begun.push(name);
      await new Promise<void>((end) => ends.push(end));
      return name;
    });
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const later = (ms: number): void => void (nowMs += ms);
  return { read, begun, ends, settle, later };
};

test("equal waiting reads share one query, and a read that has begun shares none", async () => {
  const { read, begun, ends, settle } = setupReads();
  const first = read("a", "list");
  await settle();
  const others = Array.from({ length: 50 }, () => read("a", "list"));
  const own = read("b", "list");
  await settle();

  for (let at = 0; at < 3; at++) {
    ends[at]?.();
    await settle();
  }

  expect(await Promise.all([first, own, ...others])).toEqual(Array(52).fill("list"));
  expect(begun).toHaveLength(3);
});

test("the reads of one account wait for each other, and another account's read does not wait for all", async () => {
  const { read, begun, ends, settle } = setupReads();
  for (const name of ["a0", "a1", "a2"]) void read("a", name);
  void read("b", "b0");
  await settle();
  expect(begun).toEqual(["a0", "b0"]);

  ends[0]?.();
  await settle();

  expect(begun).toEqual(["a0", "b0", "a1"]);
});

test("the limit refuses an account that has read its rows of a minute, and serves another account", async () => {
  const { read, begun, settle, later } = setupReads();
  void read("a", "a0", 60_000_000);

  await expect(read("a", "a1", 500_000)).rejects.toMatchObject({
    code: "RATE_LIMITED",
    retryAfterMs: 5_000,
  });
  void read("b", "b0", 500_000);
  await settle();
  expect(begun).toEqual(["a0", "b0"]);

  later(5_000);
  void read("a", "a2", 500_000);
  await settle();

  // It waits for the one that goes on, and is not refused.
  expect(begun).toEqual(["a0", "b0"]);
});
