import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";

// The style sheet of a screen stays in the page when another screen is opened. So each of its rules is about something of that
// screen alone: otherwise a screen looks different after another one.

const SOURCES = "packages/dashboard/src";
const sheets = globSync(`${SOURCES}/**/*.css`).toSorted();
const ownSheets = sheets.filter((path) => path.includes("/screens/"));

const listClasses = (selector: string): readonly string[] =>
  [...selector.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name = ""]) => name);

/** The selectors of all rules, those inside @media too. */
const listSelectors = (path: string): readonly string[] =>
  [
    ...readFileSync(path, "utf8")
      .replaceAll(/\/\*[\s\S]*?\*\//g, "")
      .matchAll(/([^{}]+)\{/g),
  ]
    .map(([, selector = ""]) => selector.trim())
    .filter((selector) => !selector.startsWith("@"))
    // A comma inside :is() separates no rules.
    .flatMap((selector) => selector.split(/,(?![^(]*\))/).map((one) => one.trim()));

const classesOfSheets = new Map(
  sheets.map((path) => [path, new Set(listSelectors(path).flatMap(listClasses))]),
);

/** The components of a folder, and what each of them imports and has as a class. */
const components = globSync(`${SOURCES}/**/*.tsx`).map((path) => {
  const text = readFileSync(path, "utf8");
  const values = [...text.matchAll(/class=("[^"]*"|\{(?:[^{}]|\$\{[^}]*\})*\})/g)].map(
    ([, value = ""]) => value,
  );
  const classes = values.flatMap((value) =>
    // The texts inside, without what is computed.
    [...value.matchAll(/["`]([^"`]*)["`]/g)].flatMap(([, literal = ""]) =>
      literal.replaceAll(/\$\{[^}]*\}/g, " ").split(/\s+/),
    ),
  );
  const imported = [...text.matchAll(/import "(\.[^"]+\.css)"/g)].map(([, css = ""]) =>
    join(dirname(path), css),
  );
  return { path, folder: dirname(path), classes: new Set(classes), imported };
});

/** Folders whose screens load the sheet themselves. */
const listUsers = (sheet: string): ReadonlySet<string> =>
  new Set([
    dirname(sheet),
    ...components.filter(({ imported }) => imported.includes(sheet)).map(({ folder }) => folder),
  ]);

/** A sheet that is loaded with this one alone may add to its classes. */
const isBuiltOn = (other: string, users: ReadonlySet<string>): boolean =>
  ownSheets.includes(other) && [...listUsers(other)].every((folder) => users.has(folder));

test("there are style sheets of screens, and components with classes", () => {
  expect(ownSheets.length).toBeGreaterThan(8);
  expect(components.filter(({ classes }) => classes.size > 0).length).toBeGreaterThan(40);
});

test.each(ownSheets.map((path) => [basename(path), path]))(
  "every rule of %s names a class or an id that is its own",
  (_, path) => {
    const users = listUsers(path);
    const isOwn = (name: string): boolean =>
      [...classesOfSheets].every(
        ([other, names]) => other === path || !names.has(name) || isBuiltOn(other, users),
      ) && components.every(({ folder, classes }) => users.has(folder) || !classes.has(name));
    const strays = listSelectors(path).filter(
      (selector) => !/#[a-z]/.test(selector) && !listClasses(selector).some(isOwn),
    );

    expect(strays).toEqual([]);
  },
);
