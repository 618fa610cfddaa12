import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { endpoints } from "@mailproof/api/endpoints";
import { documentsFrom } from "@mailproof/api/http/documents";
import { openWriters, texts } from "@mailproof/docs-site/texts";
import { build, type Metafile } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BUDGETS } from "../../bench/budgets.ts";
import { getLambdaGroup } from "../../bench/lambda-groups.ts";
import { lambdas } from "../../infra/topology.ts";
import { BUNDLE, dropDescriptions, inlineKeys } from "../../packages/functions/bundle.ts";
import { getEntryFile, listEntries } from "../../packages/functions/entries.ts";
import { toBytes, toEvent } from "../aws/gateway.ts";

// What a Lambda weighs is what it takes to start. Speed itself is measured by `npm run bench cold-start`.

const entries = listEntries("http", "workers", "schedules");
const folder = mkdtempSync(join(tmpdir(), "mailproof-bundles-"));
let outputs: Metafile["outputs"] = {};

beforeAll(async () => {
  const built = await build({
    ...BUNDLE,
    entryPoints: [...entries],
    outbase: "packages/functions",
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    metafile: true,
  });
  outputs = built.metafile.outputs;
});
afterAll(() => rmSync(folder, { recursive: true }));

const getBundle = (entry: string) => {
  const found = Object.values(outputs).find(({ entryPoint }) => entryPoint === entry);
  if (!found) throw new Error(`${entry} was not built`);
  return found;
};

const bundleFileOf = (entry: string) => {
  const [path] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === entry) ?? [];
  return path ?? "";
};

test.each(entries)("%s is small enough to start at once", (entry) => {
  const { most } = BUDGETS[`${getLambdaGroup(entry)}Size`];

  expect(getBundle(entry).bytes).toBeLessThanOrEqual(most * 1_000);
});

const listCarried = (entry: string): readonly string[] => {
  const { inputs } = getBundle(entry);
  return Object.keys(inputs).filter((file) => (inputs[file]?.bytesInOutput ?? 0) > 0);
};

/** The clients of AWS's SDK, and the needs that each of them serves. */
const CLIENTS: readonly (readonly [name: string, needs: RegExp])[] = [
  ["@aws-sdk/lib-dynamodb", /^table:/],
  ["@aws-sdk/client-sqs", /^queue:/],
  ["@aws-sdk/client-s3", /^(?:blobs|uploads):/],
  ["@aws-sdk/s3-request-presigner", /^blobs:/],
];

test.each(lambdas)("$name carries the clients of AWS that it needs, and no other", (lambda) => {
  const carried = listCarried(lambda.handler.replace(/handler$/, "ts"));

  // A key is looked up in the table, whatever the endpoint itself needs.
  const needs = lambda.actsForAccounts ? ["table:read", ...lambda.needs] : lambda.needs;
  expect(CLIENTS.filter(([name]) => carried.some((file) => file.includes(`/${name}/`)))).toEqual(
    CLIENTS.filter(([, pattern]) => needs.some((need) => pattern.test(need))),
  );
});

test.each(entries)("%s has no chain of credential providers", (entry) => {
  expect(listCarried(entry).filter((file) => /credential-provider-\w/.test(file))).toEqual([]);
});

const LISTS_OR_RESOLVERS = /packages\/mail\/src\/lists\/data\/|packages\/net\/src\/dns-/;
const ASKS_FOR_NAMES = /^(?:mail|dns|https)$/;

test.each(endpoints.filter(({ needs }) => !needs.some((need) => ASKS_FOR_NAMES.test(need))))(
  "$route carries neither lists of domains nor a resolver",
  (endpoint) => {
    const carried = listCarried(getEntryFile(endpoint));

    expect(carried.filter((file) => LISTS_OR_RESOLVERS.test(file))).toEqual([]);
  },
);

test("the descriptions of fields are dropped from code, whatever stands in them", () => {
  const source = `v.object({
  a: describe(v.object({ b: describe(v.literal("x)"), "Inner (b\\".") }), "Outer, a."),
  c: describe(
    v.picklist(["y", "z"], "must be y"),
    "Of two lines.",
  ),
  d: {
    why: "A \\"number\\", for a reason.",
    at: 1,
  },
});`;

  expect(dropDescriptions(source).replaceAll(/\s+/g, "")).toBe(
    'v.object({a:(v.object({b:(v.literal("x)"))})),c:(v.picklist(["y","z"],"mustbey")),d:{at:1,},});',
  );
});

test("a schema's keys are written out, where they are constants of its file", () => {
  const source = `const _a = "A";
const _b = "of \\"b\\"";
export var X$ = [{ [_a]: _a, [_b]: 1, [other]: 2 }, () => _a];`;

  expect(inlineKeys(source)).toContain('[{ "A": _a, [_b]: 1, [other]: 2 }, () => _a]');
});

test("no Lambda carries an example of a mail server's reply", () => {
  const carriers = entries.filter((entry) =>
    readFileSync(bundleFileOf(entry), "utf8").includes("address harvesting is not welcome"),
  );

  expect(carriers).toEqual([]);
});

test("no Lambda of an endpoint carries the words of the reference", () => {
  const carriers = entries
    .filter((entry) => entry.includes("generated/http"))
    .filter((entry) => readFileSync(bundleFileOf(entry), "utf8").includes("ISO 8601"));

  expect(carriers).toEqual([]);
});

/** Runs where nothing is but the settings of a Lambda. */
const runBundle = async (script: string): Promise<string> => {
  const env = {
    KEY_PEPPER: "a pepper",
    CURSOR_SECRET: "a secret",
    ACTIVITY_KEY: "a key",
    SEALING_KEY: "a key",
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
    AWS_SECRET_ACCESS_KEY: "a secret key",
    // They would stand before what the script prints.
    POWERTOOLS_METRICS_DISABLED: "true",
  };
  const args = ["--input-type=module", "--eval", script];
  return (await promisify(execFile)(process.execPath, args, { env, maxBuffer: 100_000_000 }))
    .stdout;
};

test("every one of them starts, with nothing but its settings, and none loads Node's fetch for it", async () => {
  const files = globSync(`${folder}/**/*.mjs`);

  const output = await runBundle(`
    for (const file of ${JSON.stringify(files)}) {
      const { handler } = await import(file);
      if (typeof handler !== "function") throw new Error(file + " has no handler");
      if (process.moduleLoadList.some((name) => name.includes("undici")))
        throw new Error(file + " loads fetch");
    }
    console.log("all start");`);

  expect(output).toBe("all start\n");
  expect(files).toHaveLength(entries.length);
});

/** All documents from one process: it starts longer than it answers. */
const serveFromBundle = async (paths: readonly string[]): Promise<Record<string, any>> =>
  JSON.parse(
    await runBundle(`
      const { handler } = await import(${JSON.stringify(join(folder, "src/http/$default.mjs"))});
      const answers = {};
      for (const event of ${JSON.stringify(paths.map((url) => toEvent({ method: "GET", url })))})
        answers[event.rawPath] = await handler(event);
      console.log(JSON.stringify(answers));`),
  );

test("$default carries the dashboard", async () => {
  const { "/app/": page } = await serveFromBundle(["/app/"]);

  expect(page).toMatchObject({ statusCode: 200 });
  expect(toBytes(page).toString()).toContain('<div id="app">');
});

describe("a document", () => {
  const paths = Object.keys(texts());
  const findHere = documentsFrom(openWriters);
  let served: Record<string, any> = {};
  beforeAll(async () => {
    served = await serveFromBundle(paths);
  });

  test.each(paths)("%s is in a bundle what it is here", (path) => {
    const { domainName } = toEvent({ method: "GET", url: path }).requestContext;

    const there = served[path];

    const here = findHere({
      method: "GET",
      rawPath: path,
      accept: undefined,
      baseUrl: `https://${domainName}`,
      trust: null,
    });
    expect(toBytes(there).toString()).toBe(here?.body);
    expect(there).toMatchObject({
      statusCode: 200,
      headers: { ...here?.headers, vary: expect.stringMatching(/accept-encoding$/) },
    });
  });
});
