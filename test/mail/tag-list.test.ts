import { listRepeated, parseTagList } from "@mailproof/mail/tag-list";
import { expect, test } from "vitest";

test.each([
  [
    "a=1; b=2",
    [
      ["a", "1"],
      ["b", "2"],
    ],
    [],
  ],
  [
    "a=1;b=2;",
    [
      ["a", "1"],
      ["b", "2"],
    ],
    [],
  ],
  [" a\t=\r\n 1 ; ", [["a", "1"]], []],
  ["a=x=y", [["a", "x=y"]], []],
  ["a=", [["a", ""]], []],
  [
    "A=1; a=2",
    [
      ["A", "1"],
      ["a", "2"],
    ],
    [],
  ],
  ["a=1; b; =2", [["a", "1"]], ["b", "=2"]],
  ["", [], []],
  [";;", [], []],
] as const)("%j", (text, tags, strays) => {
  const list = parseTagList(text);

  expect(list.tags.map(({ name, value }) => [name, value])).toEqual(tags);
  expect(list.strays).toEqual(strays);
});

test("what stands more than once is listed once", () => {
  expect(listRepeated(["a", "b", "a", "c", "a", "c"])).toEqual(["a", "c"]);
});
