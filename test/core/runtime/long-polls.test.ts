import { createLongPolls } from "@mailproof/core/runtime/long-polls";
import { expect, test } from "vitest";

const NEVER = new AbortController().signal;
const LIMITS = { perAccount: 2, inAll: 3 };

test("an account above its share loses its oldest wait, and no other account loses one", () => {
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

test("when there are too many in all, a new one does not wait, until another has ended", () => {
  const { begin } = createLongPolls(LIMITS, NEVER);
  const [first] = [begin("a"), begin("b"), begin("c")];

  const refused = begin("d");
  first?.end();
  const admitted = begin("d");

  expect([refused.signal.aborted, admitted.signal.aborted]).toEqual([true, false]);
});

test("a process that stops ends all of them, and those that begin afterwards", () => {
  const stopping = new AbortController();
  const { begin } = createLongPolls(LIMITS, stopping.signal);
  const waiting = [begin("a"), begin("b")];

  stopping.abort();

  expect(waiting.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  expect(begin("c").signal.aborted).toBe(true);
});
