import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

// What npm installs is what was installed when the lock file was written: each entry has the hash of its package.

type Entry = {
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  /** It comes inside another package, under that one's hash. */
  readonly inBundle?: boolean;
  readonly os?: readonly string[];
};

const getEntries = (file: string): readonly (readonly [string, Entry])[] => {
  const { packages } = JSON.parse(readFileSync(file, "utf8")) as {
    readonly packages: Readonly<Record<string, Entry>>;
  };
  return Object.entries(packages).flatMap(([path, entry]) =>
    path.includes("node_modules/") && !entry.link && !entry.inBundle
      ? [[path.replace(/^.*node_modules\//, ""), entry] as const]
      : [],
  );
};

const withoutHash = (file: string) =>
  getEntries(file).filter(([, { integrity }]) => !/^sha512-.{88}$/.test(integrity ?? ""));

const FILES = ["package-lock.json", "scripts/tools/package-lock.json", "infra/package-lock.json"];

test.each(FILES)(
  "a package without a hash in %s is a developer's tool for another platform",
  (file) => {
    const others = withoutHash(file).filter(
      ([, { dev, optional, os = [] }]) => !(dev && optional && os.length > 0),
    );

    expect(others).toEqual([]);
    expect(getEntries(file).length).toBeGreaterThan(50);
  },
);

test("SECURITY.md lists the packages without a hash and their number", () => {
  const names = FILES.flatMap(withoutHash).map(([name]) => name);
  const scopes = new Set(names.map((name) => name.split("/")[0]));
  const [, count, list = ""] =
    /\*\*(\d+) packages without a hash\.\*\*[^(]*\(([^)]*)\)/.exec(
      readFileSync("SECURITY.md", "utf8").replaceAll("\n", " "),
    ) ?? [];

  expect({ count: Number(count), scopes: new Set(list.replaceAll("`", "").split(", ")) }).toEqual({
    count: names.length,
    scopes,
  });
});
