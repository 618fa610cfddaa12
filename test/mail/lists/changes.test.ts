import { parseListChanges } from "@mailproof/mail/lists/changes";
import { expect, test } from "vitest";

test("a file of changes is read line by line, without its comments", () => {
  const text = [
    "\uFEFF# our own",
    "",
    "+disposable example.com",
    "  -free   Foo.DE.   # we serve them",
    "+trap x@Y.z.example",
    "+trap spam.example",
    "+trap odd#name@example.com",
    "+relay alias.example",
    "-role No_Reply",
  ].join("\r\n");

  expect(parseListChanges(text)).toEqual([
    { add: true, list: "disposable", entry: "example.com" },
    { add: false, list: "free", entry: "foo.de" },
    { add: true, list: "trap", entry: "x@y.z.example" },
    { add: true, list: "trap", entry: "spam.example" },
    { add: true, list: "trap", entry: "odd#name@example.com" },
    { add: true, list: "relay", entry: "alias.example" },
    { add: false, list: "role", entry: "no-reply" },
  ]);
});

test("a domain in another script is kept as its A-labels", () => {
  expect(parseListChanges("+disposable Müll.example")).toEqual([
    { add: true, list: "disposable", entry: "xn--mll-hoa.example" },
  ]);
});

test("an empty file changes nothing", () => {
  expect(parseListChanges("\n# nothing yet\n\n")).toEqual([]);
});

test.each([
  ["disposable example.com", /^Line 3 is not a change/],
  ["+ disposable example.com", /^Line 3 is not a change/],
  ["+disposable", /^Line 3 is not a change/],
  ["+disposble example.com", /^Line 3 names the list "disposble"; there are disposable, free/],
  ["+disposable example", /^Line 3 has an entry that is not a domain: example/],
  ["+disposable two words.example", /^Line 3 .* not a domain/],
  ["+disposable a@example.com", /^Line 3 .* not a domain/],
  ["+disposable *.example.com", /^Line 3 .* not a domain/],
  ["+disposable https://example.com", /^Line 3 .* not a domain/],
  ["+disposable a..example.com", /^Line 3 .* not a domain/],
  ["+disposable 192.0.2.1", /^Line 3 .* not a domain/],
  ["+free mü/ll.example", /^Line 3 .* not a domain/],
  ["+trap @example.com", /^Line 3 .* neither an address nor a domain/],
  ["+trap a b@example.com", /^Line 3 .* neither an address nor a domain/],
  ["+trap a@", /^Line 3 .* neither an address nor a domain/],
  ["+role front of house", /^Line 3 .* not a role word/],
  ["+role info@example.com", /^Line 3 .* not a role word/],
])("%j is refused by the number of its line", (line, message) => {
  expect(() => parseListChanges(`# ours\n+free a.example\n${line}\n`)).toThrow(message);
});
