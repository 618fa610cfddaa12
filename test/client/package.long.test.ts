import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { packNpm } from "@mailproof/docs-site/clients/archives";
import { NPM_PACKAGE } from "@mailproof/docs-site/clients/programs";
import { expect, test } from "vitest";
import { bundleClient } from "../../scripts/made/client.ts";
import { createFolder } from "../servers/running.ts";

// The package that a server has, used as a project that installs it does.

const run = promisify(execFile);
/** A page that verifies one address loads all of it; compressed it is two fifths of this. */
const BYTES_MAX = 15_850;

/** A folder in which the packed client is installed. */
const whenInstalled = async (): Promise<string> => {
  const folder = createFolder();
  writeFileSync(join(folder, NPM_PACKAGE), packNpm());
  const home = join(folder, "node_modules/@mailproof/client");
  mkdirSync(home, { recursive: true });
  await run("tar", ["-xzf", join(folder, NPM_PACKAGE), "-C", home, "--strip-components=1"]);
  return folder;
};

/** This one, and whichever else the machine has: the client must not need ours. */
const nodes = [process.execPath, "/usr/bin/node", "/usr/local/bin/node"].filter((file) =>
  existsSync(file),
);

const PROGRAM = `
import { createClient, MailproofError, verifyWebhook } from "@mailproof/client";
const seen = [];
const fetch = async (url, { headers }) => {
  seen.push([url, "idempotency-key" in headers]);
  return Response.json({ success: true, data: { status: "valid" } });
};
const client = createClient({ baseUrl: "https://api.example.com", key: "k", fetch });
const { status } = await client.verifyEmail({ email: "a@example.com" });
const refused = await verifyWebhook({ body: "", headers: {}, secret: "s" }).catch(({ code }) => code);
const lost = await client.verifyFile("nowhere.csv").catch(({ code }) => code);
console.log(JSON.stringify({ status, seen, refused, lost, isClass: new MailproofError("m", {}) instanceof Error }));
`;

const CONSUMER = `
import { createClient, MailproofError, type MoneyOutcome, verifyWebhook } from "@mailproof/client";

const client = createClient({ baseUrl: "https://api.example.com", key: "k" });

export const statusOf = async (email: string): Promise<string> => {
  const data = await client.verifyEmail({ email, options: { deep_verify: false } }, { idempotencyKey: "1" });
  return data.status === "pending" ? data.job_id : data.reason;
};

export const emails = async function* (): AsyncGenerator<string> {
  const done = await client.verifyFile(new Blob([]), { name: "list" });
  for await (const row of done.results()) yield row.email;
  for await (const job of client.jobs({ status: "completed" })) yield job.job_id;
};

export const moneyOf = (error: unknown): MoneyOutcome | undefined =>
  error instanceof MailproofError ? error.money : undefined;

export const requireJob = async (request: Request): Promise<string | undefined> => {
  const event = await verifyWebhook({ body: await request.text(), headers: request.headers, secret: "s" });
  return event.type === "job.completed" ? event.data.job_id : undefined;
};

// @ts-expect-error An address is a text.
void client.verifyEmail({ email: 1 });
// @ts-expect-error There is no such option.
void client.verifyEmail({ email: "a@example.com", fast: true });
// @ts-expect-error A search has no key.
void client.findEmail({ first_name: "A", last_name: "B", domain: "c.d" }, { idempotencyKey: "1" });
`;

const typesWith = (compilerOptions: object) => ({
  compilerOptions: {
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: "es2022",
    ...compilerOptions,
  },
  files: ["consumer.ts"],
});

test("the client's bundle stays within its size limit and imports nothing", async () => {
  const minified = await bundleClient(true);

  expect(Buffer.byteLength(minified)).toBeLessThan(BYTES_MAX);
  expect(minified).not.toMatch(/\bimport\s*["'{*(]|\brequire\s*\(/);
});

/** The files whose types `index.d.ts` exports. */
const listExports = (home: string): readonly string[] =>
  [...readFileSync(join(home, "index.d.ts"), "utf8").matchAll(/from "\.\/([\w-]+)\.ts"/g)].map(
    ([, name]) => `${name}.d.ts`,
  );

const TYPE = /^export (?:interface|type|declare class) /;
/** A parameter on a line of its own ends with a comma. */
const MEMBER = /^ +(?:readonly )?\w+\??(?:: |\(| = )(?!.*,$)/;

/** Members of exported types without a comment right above them, as `file: line`. */
const findUndescribed = (file: string, source: string) => {
  const lines = source.split("\n");
  let isExported = false;
  const found = lines.filter((line, at) => {
    if (/^\w/.test(line)) isExported = TYPE.test(line);
    const isMember = isExported && MEMBER.test(line) && !line.includes("constructor(");
    return isMember && !lines[at - 1]?.endsWith("*/");
  });
  const members = lines.filter((line) => MEMBER.test(line)).length;
  return { members, undescribed: found.map((line) => `${file}: ${line.trim()}`) };
};

test("every method and field of the installed types shows a sentence in editors", async () => {
  const home = join(await whenInstalled(), "node_modules/@mailproof/client");

  const files = new Set(listExports(home));
  const found = [...files].map((file) =>
    findUndescribed(file, readFileSync(join(home, file), "utf8")),
  );

  expect(found.flatMap(({ undescribed }) => undescribed)).toEqual([]);
  expect(files).toContain("types.d.ts");
  expect(found.reduce((sum, { members }) => sum + members, 0)).toBeGreaterThan(500);
});

test("the check of the types finds a field without a sentence", () => {
  const source =
    "export interface A {\n    /** One. */\n    a: 1;\n    b?: 2;\n    c(): 3;\n}\ntype B = {\n    d: 4;\n};";

  expect(findUndescribed("a.d.ts", source).undescribed).toEqual([
    "a.d.ts: b?: 2;",
    "a.d.ts: c(): 3;",
  ]);
});

test("the installed package contains every file, runs and passes the type check", async () => {
  const folder = await whenInstalled();
  const manifest = JSON.parse(
    readFileSync(join(folder, "node_modules/@mailproof/client/package.json"), "utf8"),
  ) as Record<string, unknown>;
  writeFileSync(join(folder, "program.mjs"), PROGRAM);
  writeFileSync(join(folder, "consumer.ts"), CONSUMER);
  const typeRoots = [resolve("node_modules/@types")];
  const hosts = {
    browser: typesWith({
      lib: ["es2022", "dom"],
      types: [],
      module: "esnext",
      moduleResolution: "bundler",
    }),
    node: typesWith({ lib: ["es2022"], types: ["node"], typeRoots, module: "nodenext" }),
  };

  const printed = await Promise.all(
    nodes.map(async (node) => (await run(node, ["program.mjs"], { cwd: folder })).stdout),
  );
  const complaints = await Promise.all(
    Object.entries(hosts).map(async ([host, config]) => {
      const file = join(folder, `tsconfig.${host}.json`);
      writeFileSync(file, JSON.stringify(config));
      const { stdout } = await run("node_modules/.bin/tsc", ["-p", file]).catch(
        (error: { stdout: string }) => error,
      );
      return stdout;
    }),
  );

  expect(manifest).toMatchObject({
    name: "@mailproof/client",
    license: "MIT",
    type: "module",
    sideEffects: false,
    engines: { node: ">=20.16.0" },
    exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
  });
  expect(manifest).not.toHaveProperty("private");
  expect(manifest).not.toHaveProperty("dependencies");
  expect(printed.map((line) => JSON.parse(line) as unknown)).toEqual(
    nodes.map(() => ({
      status: "valid",
      seen: [["https://api.example.com/v1/verify", true]],
      refused: "MISSING_HEADER",
      lost: "ENOENT",
      isClass: true,
    })),
  );
  expect(complaints).toEqual(["", ""]);
});
