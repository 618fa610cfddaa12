import { toContentDisposition } from "@mailproof/core/lib/content-disposition";
import { expect, test } from "vitest";

test.each([
  ["list.csv", `attachment; filename="list.csv"; filename*=UTF-8''list.csv`],
  ['a"b.csv', `attachment; filename="a_b.csv"; filename*=UTF-8''a%22b.csv`],
  [
    "a\r\nset-cookie: x.csv",
    `attachment; filename="a__set-cookie_ x.csv"; filename*=UTF-8''a%0D%0Aset-cookie%3A%20x.csv`,
  ],
  [
    "прайс (1).csv",
    `attachment; filename="_____ _1_.csv"; filename*=UTF-8''%D0%BF%D1%80%D0%B0%D0%B9%D1%81%20%281%29.csv`,
  ],
  ["half \ud800", `attachment; filename="half _"; filename*=UTF-8''half%20%EF%BF%BD`],
])("%j is saved under its name and can end no header", (fileName, header) => {
  expect(toContentDisposition(fileName)).toBe(header);
});
