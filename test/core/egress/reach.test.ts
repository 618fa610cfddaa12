import { describeReach } from "@mailproof/core/egress/describe-reach";
import { findReach, judgeReach, REACHES, storeReach } from "@mailproof/core/egress/reach";
import { expect, test } from "vitest";
import { given } from "../../app/given.ts";
import { send } from "../../app/send.ts";

const visit = (isResolved: boolean, isOpen: boolean) => ({ isResolved, isOpen });

test.each([
  ["open", [visit(true, false), visit(true, true)]],
  ["dns_only", [visit(true, false), visit(false, false)]],
  ["lab", [visit(false, false)]],
])("the reach is %s by what the visits found", (reach, visits) => {
  expect(judgeReach(visits)).toBe(reach);
});

test("what was measured is in the health and in the account, until it is measured again", async () => {
  const { world, liveKey, later } = await given();
  const before = await findReach(world);
  await storeReach(world, "dns_only");
  later(3_600_000);
  await storeReach(world, "open");

  const health = await send(world, "GET /health", {});
  const account = await send(world, "GET /v1/account", { key: liveKey });

  const message = "Mail servers can be asked.";
  const reach = { state: "open", message, refused_by: [], measured_at: "2026-11-21T01:00:00.000Z" };
  expect(before).toEqual({ state: "not_measured", refusedBy: [], measuredAt: null });
  expect((health as any).reach).toEqual(reach);
  expect(account.data.reach).toEqual(reach);
});

test("each reach has a sentence, and says what it costs where results stay unknown", () => {
  const sentences = REACHES.map((state) => describeReach({ state, refusedBy: ["google"] }));

  expect(new Set(sentences).size).toBe(REACHES.length);
  expect(describeReach({ state: "dns_only", refusedBy: [] })).toContain("which costs nothing");
  expect(describeReach({ state: "refused_by", refusedBy: ["google"] })).toContain("google refuse");
});
