import { globSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { STYLE } from "@mailproof/docs-site/style";
import { loadDashboard } from "@mailproof/local/server/dashboard-build";
import { expect, test } from "vitest";
import { describeInBrowser } from "./browser.ts";

const KB = 1_000;

const readSizes = async (): Promise<ReadonlyMap<string, number>> => {
  const files = await loadDashboard(new AbortController().signal);
  return new Map(
    Object.entries(files).map(([path, { gzip, text }]) => {
      const bytes = Buffer.from(gzip, "base64");
      expect(gunzipSync(bytes).toString()).toBe(text);
      return [path, bytes.length];
    }),
  );
};

const add = (sizes: Iterable<number>): number => [...sizes].reduce((sum, size) => sum + size, 0);

test("the whole dashboard stays within 150 KB after gzip", async () => {
  const sizes = await readSizes();

  expect(sizes.size).toBeGreaterThan(3);
  expect(add(sizes.values()) / KB).toBeLessThanOrEqual(150);
});

describeInBrowser("the dashboard's first load", ({ open }) => {
  test("the first load stays within 40 KB after gzip and shows the overview with its data", async () => {
    const sizes = await readSizes();
    const { page, requests } = await open({ key: "live" });
    await page.locator(".day-chart").waitFor();

    const loaded = new Set(
      requests
        .flatMap((one) => /^GET \/app\/(.*)$/.exec(one)?.[1] ?? [])
        .map((path) => path || "index.html"),
    );

    expect([...loaded].filter((path) => !sizes.has(path))).toEqual([]);
    expect(loaded.size).toBeGreaterThan(3);
    expect(add([...loaded].map((path) => sizes.get(path) ?? 0)) / KB).toBeLessThanOrEqual(40);
  });
});

/** "--page: #fff; --ink: #000" as pairs. */
const readColours = (text: string): ReadonlyMap<string, string> =>
  new Map(
    [...text.matchAll(/(--[\w-]+): (#[\da-f]{6})/g)].map(([, name = "", colour = ""]) => [
      name,
      colour,
    ]),
  );

test("the dashboard uses the manual's colours, light and dark", () => {
  const [light = "", dark = ""] = [...STYLE.matchAll(/:root \{([^}]*--page[^}]*)\}/g)].map(
    ([, body = ""]) => body,
  );
  const style = readFileSync("packages/dashboard/src/tokens.css", "utf8");
  const pairs = [...style.matchAll(/(--[\w-]+): light-dark\((#[\da-f]{6}), (#[\da-f]{6})\)/g)];
  const [manualLight, manualDark] = [readColours(light), readColours(dark)];
  const shared = pairs.filter(([, name = ""]) => manualLight.has(name) && manualDark.has(name));

  expect(shared.length).toBeGreaterThan(15);
  expect(shared.map(([, name, ...colours]) => [name, ...colours])).toEqual(
    shared.map(([, name = ""]) => [name, manualLight.get(name), manualDark.get(name)]),
  );
});

test("a style sheet reads no custom property that none defines", () => {
  const sheets = globSync("packages/dashboard/src/**/*.css").map((path) =>
    readFileSync(path, "utf8"),
  );
  const find = (pattern: RegExp) =>
    new Set(sheets.flatMap((text) => [...text.matchAll(pattern)].map(([, name = ""]) => name)));

  expect([...find(/var\((--[\w-]+)/g).difference(find(/(--[\w-]+): /g))]).toEqual([]);
});

test("every text size belongs to the scale, except in print and in pictures", () => {
  const sizes = globSync("packages/dashboard/src/**/*.css").flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/font-size: ([^;]+);/g)].map(([, size = ""]) => size),
  );

  expect(sizes.length).toBeGreaterThan(30);
  expect(sizes.filter((size) => !/^var\(--text-|^(?:0|inherit)$|p[tx]$/.test(size))).toEqual([]);
});
