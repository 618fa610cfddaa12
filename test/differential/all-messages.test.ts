import { expect, test } from "vitest";
import { compareMessages, TO_MEET } from "./messages.ts";

test("1,000 mails are judged as mailauth judges them, and every known difference is met", async () => {
  const met = await compareMessages(1_000);

  const seldom = TO_MEET.filter((what) => (met.get(what) ?? 0) < 5);
  expect(seldom).toEqual([]);
}, 900_000);
