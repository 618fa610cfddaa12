import { expect, test } from "vitest";
import { compareMessages } from "./messages.ts";

test("150 mails are judged as mailauth judges them", async () => {
  const met = await compareMessages(150);

  const seldom = ["dkim pass", "dkim fail", "dkim neutral", "arc pass", "dmarc pass"].filter(
    (what) => (met.get(what) ?? 0) < 5,
  );
  expect(seldom).toEqual([]);
}, 120_000);
