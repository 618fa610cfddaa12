import { readFileSync } from "node:fs";
import { STYLE } from "@mailproof/docs-site/style";
import { expect, test } from "vitest";

/** "--page: #fff; --ink: #000" as pairs. */
const readColours = (text: string): ReadonlyMap<string, string> =>
  new Map(
    [...text.matchAll(/(--[\w-]+): (#[\da-f]{6})/g)].map(([, name = "", colour = ""]) => [
      name,
      colour,
    ]),
  );

test("the dashboard has the colours of the manual, light and dark", () => {
  const [light = "", dark = ""] = [...STYLE.matchAll(/:root \{([^}]*--page[^}]*)\}/g)].map(
    ([, body = ""]) => body,
  );
  const style = readFileSync("packages/dashboard/src/style.css", "utf8");
  const pairs = [...style.matchAll(/(--[\w-]+): light-dark\((#[\da-f]{6}), (#[\da-f]{6})\)/g)];
  const [manualLight, manualDark] = [readColours(light), readColours(dark)];
  const shared = pairs.filter(([, name = ""]) => manualLight.has(name) && manualDark.has(name));

  expect(shared.length).toBeGreaterThan(15);
  expect(shared.map(([, name, ...colours]) => [name, ...colours])).toEqual(
    shared.map(([, name = ""]) => [name, manualLight.get(name), manualDark.get(name)]),
  );
});
