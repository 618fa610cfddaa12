import { existsSync, globSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { endpoints } from "@mailproof/api/endpoints";
import { expect, test } from "vitest";
import { whenListening } from "../servers/listening.ts";

// Goal: a caller without a key makes the server write and compress nothing that was not there.
// Method: a document has a strong tag of its bytes, and test/net/content-encoding.test.ts shows that equal bytes are compressed once.

const ask = (port: number, path: string, headers: Record<string, string>) =>
  new Promise<string | undefined>((resolve, reject) => {
    const headersSent = { "accept-encoding": "br", ...headers };
    request({ port, path, headers: headersSent, setHost: false })
      .on("response", (response) => resolve(response.resume().headers.etag))
      .on("error", reject)
      .end();
  });

test.each([
  "/",
  "/docs",
  "/docs/quick-start",
  "/openapi.json",
  "/llms.txt",
  "/robots.txt",
  "/favicon.ico",
])("the document %s stays the same for every host name in a request", async (path) => {
  const { port } = await whenListening();
  const tags = new Set<string | undefined>();

  for (let n = 0; n < 40; n++) {
    const host = `h${n}.example:${n}`;
    tags.add(await ask(port, path, { host }));
    const forwarded = { "x-forwarded-host": host, "x-forwarded-proto": "https" };
    tags.add(await ask(port, path, { host: "127.0.0.1", ...forwarded }));
  }

  // Two: a text is sent plain while others are being compressed.
  expect(tags.size).toBeLessThanOrEqual(2);
});

const page = readFileSync("SECURITY.md", "utf8");

test("SECURITY.md refers to existing files and tests", () => {
  const named = [...page.matchAll(/`((?:packages|test|infra|docs)\/[^`]+)`/g)].map(
    ([, file = ""]) => file,
  );

  expect(named.filter((file) => !existsSync(file))).toEqual([]);
  expect(named.length).toBeGreaterThan(40);
});

test("SECURITY.md lists every security test at a boundary, except those of the page itself", () => {
  const unlisted = globSync("test/security/*.test.ts").filter(
    (file) => !page.includes(file) && !file.endsWith("/page.test.ts"),
  );

  expect(unlisted).toEqual([]);
});

test("SECURITY.md stays short enough for one reading", () => {
  expect(page.split("\n").length).toBeLessThan(150);
});

const rows = page.split("\n").filter((line) => line.startsWith("|"));
const hasRow = (text: string): boolean => rows.some((row) => row.includes(text));

test("SECURITY.md lists each secret setting in a row", () => {
  const settings = readFileSync("packages/local/src/environment.ts", "utf8");
  const names = [...settings.matchAll(/^ {2}([A-Z_]+): v\./gm)].map(([, name = ""]) => name);
  const secrets = names.filter((name) => /KEY|SECRET|PEPPER|TLS_FILE|PROXIES/.test(name));

  expect(secrets.filter((name) => !hasRow(`\`${name}\``))).toEqual([]);
  expect(secrets.length).toBeGreaterThan(5);
});

test("SECURITY.md lists the path of each operation open to strangers in a row", () => {
  const open = endpoints.filter((one) => one.access === "public" || one.forVisitors);

  expect(
    open.map(({ route }) => route.split(" ")[1] ?? "").filter((path) => !hasRow(path)),
  ).toEqual([]);
  expect(open.length).toBeGreaterThan(2);
});

/** They only show or build what the others made: no stranger's bytes reach them. */
const NO_BOUNDARY = new Set(["client", "lab", "dashboard"]);

test("SECURITY.md lists a file of each package in a row", () => {
  const names = globSync("packages/*").map((folder) => folder.split("/").at(-1) ?? "");
  const missing = names.filter((name) => !NO_BOUNDARY.has(name) && !hasRow(`\`packages/${name}/`));

  expect(missing).toEqual([]);
});

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
