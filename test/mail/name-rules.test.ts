import { isAddress, parseAddress } from "@mailproof/mail/address";
import {
  createIssueFactory,
  fillTemplate,
  joinNames,
  scoreIssues,
  toStatus,
} from "@mailproof/mail/issue-rules";
import { findLongName, findUngivenName, hasUnusualLength } from "@mailproof/mail/name-rules";
import { listRepeated, parseTagList } from "@mailproof/mail/tag-list";
import { expect, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";

const read = (text: string) => {
  const address = parseAddress(text);
  if (!isAddress(address)) throw new Error(text);
  return address;
};

test.each([
  "john_doe@gmail.com",
  "john-doe@gmail.com",
  "john'doe@googlemail.com",
  "john=doe@gmail.com",
  "jöhn.doe@gmail.com",
  '"john doe"@gmail.com',
  "+news@gmail.com",
])("Gmail never gave the name %s", (text) => {
  expect(findUngivenName(read(text))).toEqual({
    reason: "not_a_gmail_name",
    source: "https://support.google.com/mail/answer/9211434",
  });
});

test.each([
  "john.doe@gmail.com",
  "John.Doe@GMAIL.com",
  "johndoe2@googlemail.com",
  "john.doe+news_of-today@gmail.com",
  "abc@gmail.com",
  "mailer-daemon@googlemail.com",
])("Gmail may have given the name %s", (text) => {
  expect(findUngivenName(read(text))).toBeNull();
});

test.each([
  "john_doe@company.example",
  "john_doe@mail.gmail.com",
  "john_doe@gmail.co",
  "1abc@yahoo.com",
  "john-shop@yahoo.com",
  "1900abc@hotmail.com",
  "a_b@icloud.com",
])("the rules prove nothing about the name %s", (text) => {
  expect(findUngivenName(read(text))).toBeNull();
  expect(hasUnusualLength(read(text))).toBe(false);
});

test.each([
  ["abc@gmail.com", true],
  ["a.b.c.d.e@gmail.com", true],
  ["abcde+a-long-tag@gmail.com", true],
  ["abcdef@gmail.com", false],
  [`${"a".repeat(30)}@gmail.com`, false],
  [`${"a".repeat(31)}@gmail.com`, true],
])("the length of the name %s is unusual for Gmail: %s", (text, expected) => {
  expect(hasUnusualLength(read(text))).toBe(expected);
});

test.each([
  // No length proves anything: RFC 5321 §4.5.3.1.1 is what a server must take at least.
  [`${"a".repeat(64)}@company.example`, null],
  [`${"a".repeat(65)}@company.example`, "untried"],
  [`${"ü".repeat(33)}@company.example`, "untried"],
  [`reply+${"0".repeat(78)}@reply.github.com`, "taken"],
  [`reply+${"0".repeat(20)}@reply.github.com`, null],
  [`reply+${"0".repeat(78)}@mg1.substack.com`, "taken"],
  [`reply+${"0".repeat(78)}@github.com`, "untried"],
])("the rules judge the length of %s: %s", (text, expected) => {
  expect(findLongName(read(text))).toBe(expected);
});

test.each(asRows`
  a=1; b=2 | ${[["a", "1"], ["b", "2"]]} | []
  a=1;b=2; | ${[["a", "1"], ["b", "2"]]} | []
  ${" a\t=\r\n 1 ; "} | ${[["a", "1"]]} | []
  a=x=y | ${[["a", "x=y"]]} | []
  a= | ${[["a", ""]]} | []
  A=1; a=2 | ${[["A", "1"], ["a", "2"]]} | []
  a=1; b; =2 | ${[["a", "1"]]} | ${["b", "=2"]}
  ${""} | [] | []
  ;; | [] | []
`)("the parser of tag lists splits %j into tags and strays", (text, tags, strays) => {
  const list = parseTagList(text);

  expect(list.tags.map(({ name, value }) => [name, value])).toEqual(tags);
  expect(list.strays).toEqual(strays);
});

test("listRepeated lists each repeated value once", () => {
  expect(listRepeated(["a", "b", "a", "c", "a", "c"])).toEqual(["a", "c"]);
});

const issue = createIssueFactory({
  BAD: { severity: "high", costPoints: 70, message: "{host} is bad." },
  ODD: {
    severity: "medium",
    costPoints: 40,
    lesser: { severity: "low", costPoints: 0 },
    message: "{host} is odd.",
  },
});

test("an issue costs the points of its row in the stated degree", () => {
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

test("the costs of issues lower a score to zero at most", () => {
  expect(scoreIssues([])).toBe(100);
  expect(scoreIssues([issue("ODD")])).toBe(60);
  expect(scoreIssues([issue("ODD"), issue("BAD")])).toBe(0);
});

test.each([
  ["pass", []],
  ["pass", [issue("ODD", {}, "lesser")]],
  ["warn", [issue("ODD")]],
  ["fail", [issue("ODD"), issue("BAD")]],
])("toStatus returns the status %s for the issues", (status, issues) => {
  expect(toStatus(issues)).toBe(status);
});

test("an issue's message replaces control characters of a foreign text, and its detail stores 200 characters", () => {
  const { message, detail } = issue("BAD", { host: `\u001b[31m${"x".repeat(1_000)}` });

  expect(message).toMatch(/^\?\[31mx{195} is bad\.$/);
  expect(String(detail["host"])).toHaveLength(200);
  expect(fillTemplate("{missing}{n}", { n: 3 })).toBe("3");
});

test("joinNames lists the first five of many names and counts the rest", () => {
  expect(joinNames(["a", "b"])).toBe("a, b");
  expect(joinNames(["a", "b", "c", "d", "e", "f", "g"])).toBe("a, b, c, d, e and 2 more");
});
