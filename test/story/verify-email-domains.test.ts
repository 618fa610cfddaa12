import { expect, test } from "vitest";
import { whenWorked } from "../drain-queues.ts";
import { given } from "../given.ts";
import { readJob, whenBatched } from "../jobs.ts";
import { send } from "../send.ts";

test("an address at a typo domain is risky under a test key too, with the suggestion, and not disposable", async () => {
  const { world, testKey } = await given();

  const { data } = await send(world, "POST /v1/verify", {
    key: testKey,
    body: { email: "catchall@gmial.com" },
  });

  expect(data).toMatchObject({
    status: "risky",
    reason: "typo_domain",
    flags: { disposable: false },
    ai: { typo_suggestion: "catchall@gmail.com", catch_all_confidence: expect.any(Number) },
  });
});

test("an address whose domain could not be looked up names what is not known, and the reason says why", async () => {
  const ctx = await given({ balance: 10 });
  // Without a later attempt, which would find the same out.
  const options = { max_wait_minutes: 0 };
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["ann@dnsfail.com"], options });
  await whenWorked(ctx);

  const [row] = (await readJob(ctx)).results;

  expect(row).toMatchObject({ status: "unknown", reason: "dns_inconclusive" });
  expect(row.verification).toEqual({
    syntax_valid: true,
    domain_exists: false,
    mx_found: false,
    smtp_check: false,
    mailbox_exists: false,
    catch_all: false,
    not_known: ["domain_exists", "mx_found", "mailbox_exists", "catch_all"],
  });
});
