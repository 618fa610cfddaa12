import { toByteText, toText, truncateBytes } from "@mailproof/core/intake/byte-text";
import { expect, test } from "vitest";

test("a text as bytes has a character for each byte, and is the text again", () => {
  const text = "a é ł 中 😀 \u0080";

  expect(toByteText(text)).toHaveLength(Buffer.byteLength(text));
  expect(toText(toByteText(text))).toBe(text);
});

test.each([
  ["shorter than the limit is whole", "é中", 5, "é中"],
  ["of ASCII is cut at the limit", "abcd", 3, "abc"],
  ["loses a character of two bytes that does not fit", "aé", 2, "a"],
  ["loses one of three", "a中", 3, "a"],
  ["loses one of four", "a😀b", 4, "a"],
  ["keeps one that ends at the limit", "a中b", 4, "a中"],
])("a text that is %s", (_, text, bytesMax, left) => {
  expect(toText(truncateBytes(bytesMax, toByteText(text)))).toBe(left);
});
