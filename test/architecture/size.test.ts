import { expect, test } from "vitest";
import { mayReserve, readBudget, readQuota, readSize } from "../../infra/size.ts";
import { lambdas } from "../../infra/topology.ts";

test.each([
  ["production", undefined, "full"],
  ["production", "lean", "lean"],
  ["ada", undefined, "lean"],
  ["ada", "", "lean"],
  ["ada", "full", "full"],
] as const)("the stage %s with STAGE_SIZE %s is %s", (stage, size, expected) => {
  expect(readSize(stage, { STAGE_SIZE: size })).toBe(expected);
});

test("a size, a quota or a budget that cannot be read stops the deployment, with its name", () => {
  expect(() => readSize("ada", { STAGE_SIZE: "small" })).toThrow(/STAGE_SIZE is "small"/);
  for (const number of ["a thousand", "1e3", "-1", "0", "10.5", "1,000"]) {
    expect(() => readQuota({ CONCURRENCY_QUOTA: number })).toThrow(/CONCURRENCY_QUOTA/);
    expect(() => readBudget({ BUDGET_USD: number })).toThrow(/BUDGET_USD/);
  }
  expect(readBudget({ BUDGET_USD: "300" })).toBe(300);
});

test("nothing is reserved unless the account's quota leaves callers the greater part", () => {
  const reserving = (quota?: string) =>
    mayReserve(readQuota({ CONCURRENCY_QUOTA: quota }), lambdas);
  const sum = lambdas.reduce((total, { reserved }) => total + (reserved ?? 0), 0);

  expect(reserving()).toBe(false);
  expect(reserving("10")).toBe(false);
  expect(reserving(String(2 * sum - 1))).toBe(false);
  expect(reserving(String(2 * sum))).toBe(true);
  expect(reserving("1000")).toBe(true);
});
