import { readFileSync } from "node:fs";
import {
  findRetryCause,
  getNextRetryMinutes,
  MAX_WAIT_MINUTES,
  RETRY_CAUSES,
  RETRY_SCHEDULES,
  type RetryCause,
} from "@mailproof/core/verify/retry";
import { REFUSAL_REASONS } from "@mailproof/core/verify/unpaid-results";
import { RULE_FAMILIES } from "@mailproof/mail/smtp/reply-rules/rules";
import fc from "fast-check";
import { expect, test } from "vitest";

const removePadding = (text: string) => text.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---");

test("docs/scores.md lists the schedule, reasons and rationale of every cause", () => {
  const rows = RETRY_CAUSES.map((cause) => {
    const { afterMinutes, reasons, why } = RETRY_SCHEDULES[cause];
    const named = reasons.map((reason) => `\`${reason}\``).join(", ") || "-";
    return `| ${cause} | ${named} | ${afterMinutes.join(", ")} | ${why} |`;
  });
  const table = ["| cause | reasons | after | why |", "| --- | --- | --- | --- |", ...rows].join(
    "\n",
  );

  expect(removePadding(readFileSync("docs/scores.md", "utf8"))).toContain(table);
});

/** Replies about our commands, our encryption or our text: four hours later they are the same. */
const FINAL = ["auth_or_tls_required", "content_rejected", "protocol_error"];

test("every reason for an unknown result leads to a schedule of attempts, or is final on purpose", () => {
  const unknown = RULE_FAMILIES.filter(({ verdict }) => verdict === "unknown").map(
    ({ reason }) => reason,
  );
  const retried = RETRY_CAUSES.flatMap((cause) => RETRY_SCHEDULES[cause].reasons);

  expect(new Set(unknown).difference(new Set(retried))).toEqual(new Set(FINAL));
  expect(new Set(retried).size).toBe(retried.length);
});

const UNKNOWN = { status: "unknown", retry: "later", rule: null, code: null };

test.each([
  ["a verdict, even after a temporary reply", { status: "risky", reason: "mailbox_full" }],
  ["a role, whose server greylists", { status: "role", reason: "greylisted" }],
  ["a reason without a schedule", { reason: "content_rejected", code: 451 }],
  ["a block of our address", { reason: "ip_blocked", code: 550 }],
  ["a 5xx, which is permanent", { reason: "server_refuses", code: 554 }],
  ["a finding that calls itself permanent", { reason: "rate_limited", retry: null }],
  ["no way out on port 25", { reason: "no_smtp_egress", rule: "connect_timeout" }],
])("a result is final because of %s", (_case, found) => {
  expect(findRetryCause({ ...UNKNOWN, ...found })).toBeNull();
});

test("a 550 that takes us for a harvester causes another attempt, although its code is permanent", () => {
  const found = { ...UNKNOWN, reason: "directory_harvest", retry: "later", code: 550 };

  expect(findRetryCause(found)).toBe("throttled");
});

test.each(REFUSAL_REASONS)("a 4xx about us counts as a throttle with the reason %s", (reason) => {
  expect(findRetryCause({ ...UNKNOWN, reason, code: 451 })).toBe("throttled");
});

test("the waits after a throttle follow the mail provider's own, when the provider states some", () => {
  const limits = { maxWaitMinutes: MAX_WAIT_MINUTES.most, throttleMinutes: [240, 480] };
  const next = (causes: readonly RetryCause[]) => getNextRetryMinutes(causes, "throttled", limits);

  expect([next([]), next(["throttled"]), next(["throttled", "throttled"])]).toEqual([
    240,
    480,
    undefined,
  ]);
  expect(next(["throttled", "greylisting"])).toBe(480);
});

test("a reply of too many recipients causes another attempt, even as a 5xx", () => {
  const found = { ...UNKNOWN, reason: "too_many_recipients", retry: "new_connection", code: 550 };

  expect(findRetryCause(found)).toBe("busy");
});

test("an address waits no longer than its limit, and not for ever", () => {
  const causes = fc.array(fc.constantFrom(...RETRY_CAUSES), { minLength: 40, maxLength: 40 });
  fc.assert(
    fc.property(causes, fc.integer({ min: 0, max: MAX_WAIT_MINUTES.most }), (met, limit) => {
      const waited: RetryCause[] = [];
      let minutes = 0;
      for (const cause of met) {
        const next = getNextRetryMinutes(waited, cause, { maxWaitMinutes: limit });
        if (next === undefined) break;
        minutes += next;
        waited.push(cause);
      }
      expect(minutes).toBeLessThanOrEqual(limit);
      expect(waited.length).toBeLessThan(met.length);
    }),
  );
});
