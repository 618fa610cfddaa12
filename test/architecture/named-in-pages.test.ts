import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

// What a page says in `this type` of the code. A page that tells of what is no longer there sends its readers astray.

const files = globSync("{packages,infra,test,bench,scripts}/**/*.{ts,tsx,mjs,yml,json,css}", {
  exclude: ["**/node_modules/**"],
}).concat(globSync("{*.ts,docs/**/*.md}"));

const readCode = (page: string): readonly string[] =>
  [
    ...readFileSync(page, "utf8")
      .replaceAll(/^```[\s\S]*?^```/gm, "")
      .matchAll(/`([^`\n]+)`/g),
  ].map(([, span]) => span ?? "");

/** By its end: "core/src/ports/world.ts" is packages/core/src/ports/world.ts, and a star is any name. */
const filesAt = (path: string): readonly string[] => {
  const end = new RegExp(`(?:^|/)${RegExp.escape(path).replaceAll("\\*", "[^/]*")}$`);
  return files.filter((file) => end.test(file));
};

const isFile = (span: string): boolean => /^[\w$*][\w./*-]*\.(?:tsx?|mjs)$/.test(span);
const isFolder = (span: string): boolean => /^[\w-]+(?:\/[\w-]+)+\/?$/.test(span);

const hasFolder = (span: string): boolean => {
  const folder = `/${span.replace(/\/$/, "")}/`;
  return files.some((file) => `/${file}`.includes(folder)) || filesAt(`${span}.test.ts`).length > 0;
};

const texts = new Map(
  files.filter((file) => file.endsWith(".ts")).map((file) => [file, readFileSync(file, "utf8")]),
);

const declaresOne = (among: readonly string[], name: string): boolean => {
  const declaration = new RegExp(
    `\\b(?:const|function\\*?|type|class) ${name}\\b|^ +(?:readonly )?(?:async )?${name}\\??[(:]`,
    "m",
  );
  // Most files do not have the name at all, and a search for it is quicker than the expression.
  return among.some((file) => {
    const text = texts.get(file) ?? "";
    return text.includes(name) && declaration.test(text);
  });
};

const pages = ["docs/architecture.md", "CONTRIBUTING.md", ...globSync("docs/design/*.md")];

test.each(pages)("%s names files and folders that are there", (page) => {
  const astray = readCode(page).filter(
    (span) => (isFile(span) && filesAt(span).length === 0) || (isFolder(span) && !hasFolder(span)),
  );

  expect(astray).toEqual([]);
});

const ARCHITECTURE = "docs/architecture.md";
const sources = files.filter((file) => file.startsWith("packages/"));

test("docs/architecture.md names functions, types and fields that are there", () => {
  const names = readCode(ARCHITECTURE)
    .filter((span) => /^[A-Za-z]\w*(?:\.[a-z]\w*)?$/.test(span) && !isFile(span))
    .map((span) => span.split(".").at(-1) ?? "");
  const packages = globSync("packages/*").map((path) => path.replace("packages/", ""));

  expect(names.length).toBeGreaterThan(40);
  expect(names.filter((name) => !packages.includes(name) && !declaresOne(sources, name))).toEqual(
    [],
  );
});

test("docs/architecture.md finds a function in the file that it names beside it", () => {
  const namedPaths = [
    ...readFileSync(ARCHITECTURE, "utf8").matchAll(
      /`(?:\w+\.)?(\w+)`\s+(?:in\s+|\()`([\w./-]+\.ts)`/g,
    ),
  ].map(([, name = "", file = ""]) => ({ name, file }));

  expect(namedPaths.length).toBeGreaterThan(15);
  expect(namedPaths.filter(({ name, file }) => !declaresOne(filesAt(file), name))).toEqual([]);
});
