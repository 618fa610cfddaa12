import { isAddress, parseAddress } from "@mailproof/core/mail/address";
import { findNameFault, hasUnusualLength } from "@mailproof/core/mail/name-rules";
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
  expect(findNameFault(read(text))).toBe("not_a_gmail_name");
});

test.each([
  "john.doe@gmail.com",
  "John.Doe@GMAIL.com",
  "johndoe2@googlemail.com",
  "john.doe+news_of-today@gmail.com",
  "abc@gmail.com",
  "mailer-daemon@googlemail.com",
])("Gmail may have given the name %s", (text) => {
  expect(findNameFault(read(text))).toBeNull();
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
  expect(findNameFault(read(text))).toBeNull();
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
