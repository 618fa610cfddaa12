import { isAddress, parseAddress } from "@mailproof/mail/address";
import { findLongName, findUngivenName, hasUnusualLength } from "@mailproof/mail/name-rules";
import { expect, test } from "vitest";

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
])("nothing is proven of %s", (text) => {
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
])("the length of %s is unusual for Gmail: %s", (text, expected) => {
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
])("of the length of %s is known: %s", (text, expected) => {
  expect(findLongName(read(text))).toBe(expected);
});
