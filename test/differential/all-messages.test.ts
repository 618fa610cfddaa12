import { expect, test } from "vitest";
import { compareMessages, TO_MEET } from "./messages.ts";

test("the service judges 1,000 mails as mailauth does, and meets every known difference", async () => {
  const met = await compareMessages(1_000);

  const seldom = TO_MEET.filter((what) => (met.get(what) ?? 0) < 5);
  expect(seldom).toEqual([]);
}, 900_000);
