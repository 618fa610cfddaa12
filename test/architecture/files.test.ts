import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const files = globSync("{*.ts,{packages,infra,scripts,bench,test}/**/*.{ts,mjs}}", {
  exclude: ["**/node_modules/**", "**/dist/**", "**/generated/**"],
});
const texts = new Map(files.map((file) => [file, readFileSync(file, "utf8")]));

/** Tables, as long as what they list. */
const TABLES = [
  "packages/api/src/openapi/examples.ts",
  "packages/client/src/types.ts",
  "packages/core/src/mail/lists/data/broad.ts",
  "packages/core/src/mail/lists/data/disposable.ts",
];
const LINES_MAX = 350;

test("a file that is no table is short enough to be read at once", () => {
  const long = [...texts].filter(
    ([file, text]) => !file.startsWith("test/") && text.split("\n").length > LINES_MAX,
  );

  expect(long.map(([file]) => file).toSorted()).toEqual(TABLES);
});

/** Read by AWS or put in another's place: their users are not in the tree. */
const FOR_OTHERS = /^packages\/functions\/src\/(?:(?:http|workers|schedules)\/|ajv-stub)/;
const EXPORT = /^export (?:async )?(?:const|function\*?|class|type) (\w+)/gm;

test("what is exported is used in another file, or is a type that its own file tells of", () => {
  const usersOf = new Map<string, number>();
  for (const text of texts.values())
    for (const name of new Set(text.match(/\w+/g))) usersOf.set(name, (usersOf.get(name) ?? 0) + 1);
  const idle = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(EXPORT)]
      .filter(([found, name = ""]) => {
        const isOwnType = found.includes(" type ") && text.match(new RegExp(`\\b${name}\\b`, "g"));
        return usersOf.get(name) === 1 && !(isOwnType && isOwnType.length > 1);
      })
      .map(([, name]) => `${file} exports ${name}`),
  );

  expect(idle.filter((one) => !FOR_OTHERS.test(one))).toEqual([]);
});
