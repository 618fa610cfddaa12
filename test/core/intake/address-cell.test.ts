import { hasAddress, parseAddressCell } from "@mailproof/core/intake/address-cell";
import { isAddress } from "@mailproof/mail/address";
import { expect, test } from "vitest";

const shown = (cell: string): string => {
  const read = parseAddressCell(cell);
  return isAddress(read) ? read.display : read.fault;
};

test.each([
  ["an address alone", "ada@x.org", "ada@x.org"],
  ["a name before it", "Ada Lovelace <ada@x.org>", "ada@x.org"],
  ["a name in quotes, with a comma", '"Lovelace, Ada" <ada@x.org>', "ada@x.org"],
  ["a name with parentheses", "Ada (CEO) <Ada@X.org>", "Ada@x.org"],
  ["no blank before the brackets", "Ada<ada@x.org>", "ada@x.org"],
  ["itself as its name", "ada@x.org <ada@x.org>", "ada@x.org"],
  ["a quoted local part in brackets", 'Ada <"a b"@x.org>', '"a b"@x.org'],
  ["mailto:", "mailto:ada@x.org", "ada@x.org"],
  ["mailto: with a subject", "MAILTO:ada@x.org?subject=Hi%20there", "ada@x.org"],
  ["mailto: with an encoded plus", "mailto:ada%2Bnews@x.org", "ada+news@x.org"],
  ["mailto: with a broken escape", "mailto:ada%ZZ@x.org", "ada%ZZ@x.org"],
  ["mailto: in brackets behind a name", "Ada <mailto:ada@x.org>", "ada@x.org"],
  ["a percent sign that is no escape", "ada%41@x.org", "ada%41@x.org"],
  ["a semicolon behind it", "ada@x.org;", "ada@x.org"],
  ["itself twice", "ada@x.org, ADA@x.org", "ada@x.org"],
  ["no-break spaces around it", "\u00a0ada@x.org\u00a0", "ada@x.org"],
  ["characters of no width around it", "\u200bada@x.org\ufeff\u200e", "ada@x.org"],
])("a cell holds one address: %s", (_case, cell, address) => {
  expect(shown(cell)).toBe(address);
  expect(hasAddress(cell)).toBe(true);
});

test.each([
  "ada@x.org;bob@y.org",
  "ada@x.org, bob@y.org",
  "ada@x.org bob@y.org",
  "ada@x.org/bob@y.org",
  "Ada <ada@x.org>, Bob <bob@y.org>",
  "bob@y.org <ada@x.org>",
  "ada@x.org\nbob@y.org",
])("a cell with several addresses holds none: %j", (cell) => {
  expect(shown(cell)).toBe("several_addresses");
  expect(hasAddress(cell)).toBe(true);
});

test.each([
  ["a word more", "ada@x.org, Ada", "syntax.domain_character"],
  ["a word before it", "E-Mail: ada@x.org", "syntax.local_character"],
  ["a blank within it", "ada @x.org", "syntax.white_space"],
  ["a character of no width within it", "ada\u200b@x.org", "syntax.invisible"],
  ["what is wrong in the brackets", "Ada <ada@x>", "syntax.domain_no_dot"],
  ["no @", "Ada", "syntax.no_at"],
  ["nothing", "", "syntax.empty"],
  ["a thousand letters and more", `<${"x".repeat(2_000)}@x.org>`, "syntax.too_long"],
])("a cell holds no address, and the fault names the reason: %s", (_case, cell, fault) => {
  expect(shown(cell)).toBe(fault);
  expect(hasAddress(cell)).toBe(false);
});
