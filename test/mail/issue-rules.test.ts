import {
  createIssueFactory,
  fillTemplate,
  joinNames,
  scoreIssues,
  toStatus,
} from "@mailproof/mail/issue-rules";
import { expect, test } from "vitest";

const issue = createIssueFactory({
  BAD: { severity: "high", costPoints: 70, message: "{host} is bad." },
  ODD: {
    severity: "medium",
    costPoints: 40,
    lesser: { severity: "low", costPoints: 0 },
    message: "{host} is odd.",
  },
});

test("an issue weighs what its row says, in the degree that is meant", () => {
  expect(issue("ODD", { host: "a.test" })).toEqual({
    id: "ODD",
    severity: "medium",
    costPoints: 40,
    message: "a.test is odd.",
    detail: { host: "a.test" },
  });
  expect(issue("ODD", {}, "lesser")).toMatchObject({ severity: "low", costPoints: 0 });
  expect(issue("BAD", {}, "lesser")).toMatchObject({ severity: "high", costPoints: 70 });
});

test("costs end at nothing left", () => {
  expect(scoreIssues([])).toBe(100);
  expect(scoreIssues([issue("ODD")])).toBe(60);
  expect(scoreIssues([issue("ODD"), issue("BAD")])).toBe(0);
});

test.each([
  ["pass", []],
  ["pass", [issue("ODD", {}, "lesser")]],
  ["warn", [issue("ODD")]],
  ["fail", [issue("ODD"), issue("BAD")]],
])("the status is %s", (status, issues) => {
  expect(toStatus(issues)).toBe(status);
});

test("of text from outside a sentence takes what is readable, and an issue not all", () => {
  const { message, detail } = issue("BAD", { host: `\u001b[31m${"x".repeat(1_000)}` });

  expect(message).toMatch(/^\?\[31mx{195} is bad\.$/);
  expect(String(detail["host"])).toHaveLength(200);
  expect(fillTemplate("{missing}{n}", { n: 3 })).toBe("3");
});

test("of many names the first ones are listed", () => {
  expect(joinNames(["a", "b"])).toBe("a, b");
  expect(joinNames(["a", "b", "c", "d", "e", "f", "g"])).toBe("a, b, c, d, e and 2 more");
});
