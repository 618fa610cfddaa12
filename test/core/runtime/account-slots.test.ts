import { createAccountSlots } from "@mailproof/core/runtime/account-slots";
import { createListReads, type ListReads } from "@mailproof/core/runtime/list-reads";
import { createLongPolls } from "@mailproof/core/runtime/long-polls";
import { expect, test } from "vitest";
import { START } from "../../app/given.ts";

/** Work that goes on until it is let go, and what has begun of it. */
const setupSlots = (limit: number) => {
  const slots = createAccountSlots({ inAll: limit, perShare: limit });
  const begun: string[] = [];
  const end = new Map<string, (error?: Error) => void>();
  const start = (name: string): Promise<void> =>
    slots
      .run(name.slice(0, 1), () => {
        begun.push(name);
        return new Promise<void>((resolve, reject) =>
          end.set(name, (error) => (error ? reject(error) : resolve())),
        );
      })
      .catch(() => undefined);
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { start, begun, end, settled };
};

test("an account alone takes half of the slots, and other accounts take the rest", async () => {
  const { start, begun, settled } = setupSlots(4);
  for (let n = 0; n < 25; n++) void start(`a${n}`);
  await settled();
  expect(begun).toEqual(["a0", "a1"]);

  void start("b0");
  await settled();

  expect(begun).toEqual(["a0", "a1", "b0"]);
});

test.each([
  ["ends", undefined],
  ["fails", new Error("broken")],
])("the next waiting work that may begin starts when work %s", async (_case, error) => {
  const { start, begun, end, settled } = setupSlots(4);
  for (const name of ["a0", "a1", "a2", "b0", "b1", "c0", "d0"]) void start(name);
  await settled();
  expect(begun).toEqual(["a0", "a1", "b0", "c0"]);

  end.get("b0")?.(error);
  await settled();

  // Account a still holds more than is free; b has none any more, and its second work came first.
  expect(begun.slice(4)).toEqual(["b1"]);
});

test("the limit never runs more work than it has slots", async () => {
  const { start, begun, end, settled } = setupSlots(3);
  for (let n = 0; n < 40; n++) void start(`${"abcdefgh"[n % 8]}${n}`);
  let ended = 0;
  for (await settled(); ended < 40; await settled()) {
    expect(begun.length - ended).toBeLessThanOrEqual(3);
    end.get(begun[ended] ?? "")?.();
    ended += 1;
  }
  expect(begun).toHaveLength(40);
});

const NEVER = new AbortController().signal;
const LIMITS = { perAccount: 2, inAll: 3 };

test("an account above its share loses its oldest long poll, and other accounts lose none", () => {
  const { begin } = createLongPolls(LIMITS, NEVER);
  const other = begin("other");
  const [first, second] = [begin("acc"), begin("acc")];

  const third = begin("acc");

  expect([other, first, second, third].map(({ signal }) => signal.aborted)).toEqual([
    false,
    true,
    false,
    false,
  ]);
});

test("a new long poll ends at once while too many are open, and waits again after another has ended", () => {
  const { begin } = createLongPolls(LIMITS, NEVER);
  const [first] = [begin("a"), begin("b"), begin("c")];

  const refused = begin("d");
  first?.end();
  const admitted = begin("d");

  expect([refused.signal.aborted, admitted.signal.aborted]).toEqual([true, false]);
});

test("a stopping process ends all long polls, and later ones at once", () => {
  const stopping = new AbortController();
  const { begin } = createLongPolls(LIMITS, stopping.signal);
  const waiting = [begin("a"), begin("b")];

  stopping.abort();

  expect(waiting.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  expect(begin("c").signal.aborted).toBe(true);
});

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

test("the reads of one account run one after another, and another account's read starts at once", async () => {
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
