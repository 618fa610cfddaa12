import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { endpoints } from "@mailproof/api/endpoints";
import { documentsFrom, MISSING_PAGE } from "@mailproof/api/http/documents";
import { openWriters, texts } from "@mailproof/docs-site/texts";
import { build, type Metafile, type Plugin } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BUDGETS } from "../../bench/budgets.ts";
import { getLambdaGroup } from "../../bench/lambda-groups.ts";
import { toBytes, toEvent } from "../../infra/gateway-event.ts";
import type { Need } from "../../infra/iam.ts";
import { lambdas } from "../../infra/topology.ts";
import { BUNDLE, withoutTokens } from "../../packages/functions/bundle.ts";
import { getEntryFile, listEntries } from "../../packages/functions/entries.ts";
import {
  dropDescriptions,
  dropTexts,
  dropUnreadErrors,
  inlineKeys,
} from "../../packages/functions/source-edits.ts";

// Compares the values that two builds of one module export: their types, numbers, texts, schemas and rules.

type Keyed = Readonly<Record<string, unknown>>;

/** Texts that a bundle does without (packages/functions/bundle.ts). */
const DROPPED_TEXTS = ["example", "why"];

/** `describe` adds no check: a bundle has the schema itself (core/src/lib/describe.ts). */
const undescribe = (value: unknown): unknown => {
  const { pipe } = Object(value) as { readonly pipe?: readonly Keyed[] };
  if (!Array.isArray(pipe) || pipe.length !== 2) return value;
  return pipe[1]?.["type"] === "description" ? undescribe(pipe[0]) : value;
};

const isThunk = (value: unknown): value is () => unknown =>
  typeof value === "function" && value.length === 0 && /^\(\) ?=>/.test(String(value));

type Comparison = {
  /** The path of each value that differs, with both forms. */
  readonly differences: readonly string[];
  /** How many schemas of valibot were compared. */
  readonly schemas: number;
};

/** `callsThunks`: the schemas of AWS's SDK name each other by functions without parameters. */
const compareValues = (
  source: unknown,
  built: unknown,
  { callsThunks = false } = {},
): Comparison => {
  const differences: string[] = [];
  const seen = new Map<object, Set<unknown>>();
  let schemas = 0;

  const compare = (path: string, before: unknown, after: unknown): void => {
    const [here, there] = [undescribe(before), undescribe(after)];
    if (getKind(here) !== getKind(there)) {
      differences.push(`${path}: ${getKind(here)} became ${getKind(there)}`);
      return;
    }
    if (callsThunks && isThunk(here) && isThunk(there)) compare(`${path}()`, here(), there());
    if (typeof here === "function") return;
    if (typeof here !== "object" || here === null) {
      if (!Object.is(here, there))
        differences.push(`${path}: ${String(here)} became ${String(there)}`);
      return;
    }
    const met = seen.get(here) ?? new Set();
    if (met.has(there)) return;
    seen.set(here, met.add(there));
    if (getKind(here).startsWith("schema ")) schemas++;
    if (here instanceof RegExp || here instanceof Date) {
      compare(path, String(here), String(there));
      return;
    }
    const [old, now] = [toKeyed(here), toKeyed(there as object)];
    for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
      const isDropped = DROPPED_TEXTS.includes(key) && typeof old[key] === "string";
      if (!(isDropped && !(key in now))) compare(`${path}.${key}`, old[key], now[key]);
    }
  };

  compare("", source, built);
  return { differences, schemas };
};

const getKind = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const { kind, type } = value as Keyed;
  if (typeof kind === "string" && typeof type === "string") return `${kind} ${type}`;
  return Array.isArray(value) ? "array" : Object.prototype.toString.call(value).slice(8, -1);
};

const toKeyed = (value: object): Keyed => {
  if (value instanceof Map) return Object.fromEntries(value);
  return (value instanceof Set ? [...value] : value) as unknown as Keyed;
};

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
/** Of modules that are no Lambdas. */
const modules = mkdtempSync(join(tmpdir(), "mailproof-modules-"));
afterAll(() => {
  for (const made of [folder, modules]) rmSync(made, { recursive: true });
});

const getBundle = (entry: string) => {
  const found = Object.values(outputs).find(({ entryPoint }) => entryPoint === entry);
  if (!found) throw new Error(`${entry} was not built`);
  return found;
};

const bundleFileOf = (entry: string) => {
  const [path] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === entry) ?? [];
  return path ?? "";
};

test.each(entries)("the bundle of %s stays within its start budget", (entry) => {
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

test.each(lambdas)(
  "the bundle of $name contains the AWS clients that it needs, and no other",
  (lambda) => {
    const carried = listCarried(lambda.handler.replace(/handler$/, "ts"));

    // A key is looked up in the table, whatever the endpoint itself needs.
    const needs = lambda.actsForAccounts ? ["table:read", ...lambda.needs] : lambda.needs;
    expect(CLIENTS.filter(([name]) => carried.some((file) => file.includes(`/${name}/`)))).toEqual(
      CLIENTS.filter(([, pattern]) => needs.some((need) => pattern.test(need))),
    );
  },
);

/** The module that reads each secret, and the need of it. */
const READERS: readonly (readonly [file: RegExp, need: Need])[] = [
  [/core\/src\/(?:accounts\/api-keys|people\/sessions)\.ts$/, "keys:check"],
  [/core\/src\/lib\/cursor\.ts$/, "cursor"],
  [/core\/src\/accounts\/hashes\.ts$/, "activity"],
  [/core\/src\/(?:lib\/secret-box|receipts\/receipt-keys)\.ts$/, "seal"],
  [/node_modules\/openid-client\//, "oidc"],
];

test.each(lambdas)(
  "the Lambda $name declares the secrets that its imports read, and no other",
  (lambda) => {
    const carried = listCarried(lambda.handler.replace(/handler$/, "ts"));

    expect(
      READERS.filter(([pattern]) => carried.some((file) => pattern.test(file))).map(
        ([, need]) => need,
      ),
    ).toEqual(READERS.map(([, need]) => need).filter((need) => lambda.needs.includes(need)));
  },
);

test("only the listed modules read the pepper, the activity key or the sealing key", () => {
  const readers = globSync("packages/{core,api,mcp,functions}/src/**/*.ts").filter((file) =>
    /\bsettings\b[^;]*\b(?:keyPepper|activityKey|encryptionKey)\b/.test(readFileSync(file, "utf8")),
  );

  expect(readers.filter((file) => !READERS.some(([pattern]) => pattern.test(file)))).toEqual([]);
});

test("the bundle of a stage that trusts no issuer contains no token library", async () => {
  const [entry = ""] = entries;
  const { metafile } = await build({
    ...BUNDLE,
    plugins: [withoutTokens, ...BUNDLE.plugins],
    entryPoints: [entry],
    write: false,
    outfile: join(folder, "without-tokens.mjs"),
    metafile: true,
  });
  const isOfTokens = (file: string) => file.includes("node_modules/jose/");

  expect(listCarried(entry).filter(isOfTokens)).not.toEqual([]);
  expect(Object.keys(metafile.inputs).filter(isOfTokens)).toEqual([]);
});

test.each(entries)("the bundle of %s contains no chain of credential providers", (entry) => {
  expect(listCarried(entry).filter((file) => /credential-provider-\w/.test(file))).toEqual([]);
});

const LISTS_OR_RESOLVERS = /packages\/mail\/src\/lists\/data\/|packages\/net\/src\/dns-/;
const ASKS_FOR_NAMES = /^(?:mail|lists|dns|https)$/;

test.each(endpoints.filter(({ needs }) => !needs.some((need) => ASKS_FOR_NAMES.test(need))))(
  "the bundle of $route contains neither domain lists nor a resolver",
  (endpoint) => {
    const carried = listCarried(getEntryFile(endpoint));

    expect(carried.filter((file) => LISTS_OR_RESOLVERS.test(file))).toEqual([]);
  },
);

test("only the Lambdas of passkeys and of the identity provider contain their libraries", () => {
  const listCarriers = (library: string) =>
    entries.filter((entry) => listCarried(entry).some((file) => file.includes(library)));

  expect(listCarriers("/@simplewebauthn/").map((entry) => basename(entry, ".ts"))).toEqual([
    "sign-in-with-passkey",
    "add-passkey",
  ]);
  expect(listCarriers("/openid-client/").map((entry) => basename(entry, ".ts"))).toEqual([
    "sign-in-with-oidc",
  ]);
});

const FILE = "file.ts";
const IMPORT = 'import { describe } from "../schema/common.ts";';

test("dropDescriptions keeps the schema of each describe with any plain text", () => {
  const source = `${IMPORT}
const é = v.object({
  a: describe(v.object({ b: describe(v.literal("x)"), "Inner (b\\".") }), "Outer, ö."),
  c: describe(
    v.picklist(["y", "z"], "must be y"),
    \`Of \${MOST} lines (\${NAMES.join(", ")}, \${LIMITS.lines}).\`,
  ),
  d: describe(v.string(), text),
  e: describe(v.string(), "one " + "more"),
});
export { describe };`;

  expect(dropDescriptions(FILE, source).replaceAll(/\s+/g, "")).toBe(
    `${IMPORT}consté=v.object({a:(v.object({b:(v.literal("x)"))})),c:(v.picklist(["y","z"],"mustbey")),d:(v.string()),e:(v.string()),});export{describe};`.replaceAll(
      /\s+/g,
      "",
    ),
  );
});

test.each([
  ["one argument", "describe(schema)"],
  ["three arguments", 'describe(schema, "a", "b")'],
  ["spread arguments", "describe(...pair)"],
  ["a computed text", "describe(schema, write())"],
  ["a text with an assignment", "describe(schema, `${(count += 1)}`)"],
  ["a use without a call", "[schema].map(describe)"],
])("dropDescriptions throws for %s", (_, code) => {
  expect(() => dropDescriptions(FILE, `${IMPORT}\nconst a = ${code};`)).toThrow(`${FILE}:2: `);
});

test("dropDescriptions empties the text of each field, and throws for a computed text", () => {
  const fields = 'import * as field from "./fields.ts";\n';
  const nested = 'field.objects("The hosts.", { ip: field.text(`Of ${MOST}.`) });';

  expect(dropDescriptions(FILE, fields + nested)).toBe(
    `${fields}field.objects("", { ip: field.text("") });`,
  );
  expect(() => dropDescriptions(FILE, `${fields}field.text(write());`)).toThrow(`${FILE}:2: `);
});

test("dropDescriptions keeps the describe of another module", () => {
  const source = 'import { describe } from "./shape.ts";\ndescribe(1, 2, 3);';

  expect(dropDescriptions(FILE, source)).toBe(source);
});

test("dropTexts removes a property at any place of its object, and throws for other values", () => {
  const source =
    'f({ why: "a, b", at: 1 }, { at: 2, why: `c`, to: 3 }, { at: 4, why: "d", }, { why: "e", });';

  expect(dropTexts(FILE, source, "why")).toBe("f({ at: 1 }, { at: 2, to: 3 }, { at: 4, }, {});");
  expect(() => dropTexts(FILE, "f({ why: 1 });", "why")).toThrow("why is not a plain text");
  expect(() => dropTexts(FILE, 'f({ "because": "a" });', "why")).toThrow("no why was found");
});

test("inlineKeys writes the file's constants as keys, and throws for any other key", () => {
  const source = `const _a = "A", _b = 'of "b"';\nexport var X$ = [{ [_a]: _a, [_b]: 1, c: 2 }, () => _a];`;

  expect(inlineKeys(FILE, source)).toContain('[{ "A": _a, "of \\"b\\"": 1, c: 2 }, () => _a]');
  expect(() => inlineKeys(FILE, `${source} f({ [other]: 1 });`)).toThrow(`${FILE}:2: a key is not`);
  expect(() => inlineKeys(FILE, "f({ a: 1 });")).toThrow("no key was found");
});

test("dropUnreadErrors keeps the service's own and the read errors, and throws without them", () => {
  const toLine = (name: string) => `registry.registerError(${name}$, ${name});`;
  const source = ["SQSServiceException", "ReadError", "OtherError"].map(toLine).join("\n");

  expect(dropUnreadErrors(FILE, source, ["ReadError"]).trim()).toBe(
    ["SQSServiceException", "ReadError"].map(toLine).join("\n"),
  );
  expect(() => dropUnreadErrors(FILE, source, ["NewError"])).toThrow("no registration of NewError");
  expect(() => dropUnreadErrors(FILE, `${source}\nregister(A$, A);`, [])).toThrow(`${FILE}:4: `);
  expect(() => dropUnreadErrors(FILE, toLine("SQSServiceException"), [])).toThrow("not the errors");
});

describe("a module of a bundle", () => {
  const CARRIED = /^packages\/(?:api|core|mail)\/src\/|\/@aws-sdk\/client-\w+\/dist-es\/schemas\//;
  /** There are some 2,900: a comparison of few schemas does not reach them. */
  const SCHEMAS_MIN = 2_000;

  const compareBundled = async (files: readonly string[], plugins: readonly Plugin[]) => {
    const outdir = mkdtempSync(join(modules, "bundled-"));
    const { metafile } = await build({
      ...BUNDLE,
      plugins: [...plugins],
      entryPoints: [...files],
      outdir,
      outbase: ".",
      outExtension: { ".js": ".mjs" },
      splitting: true,
      metafile: true,
    });
    const builtFiles = new Map(
      Object.entries(metafile.outputs).map(([path, { entryPoint }]) => [entryPoint, path]),
    );
    const compared = files.map(async (file) => {
      const [here, there] = await Promise.all([
        import(/* @vite-ignore */ resolve(file)),
        import(/* @vite-ignore */ resolve(builtFiles.get(file) ?? "")),
      ]);
      // The errors without a class of their own, as deployed.long.test.ts sees them.
      const { errorTypeRegistries: _, ...exported } = here;
      const { errorTypeRegistries: __, ...bundled } = there;
      const callsThunks = file.includes("@aws-sdk");
      const { differences, schemas } = compareValues(exported, bundled, { callsThunks });
      return { differences: differences.map((one) => `${file}${one}`), schemas };
    });
    return Promise.all(compared);
  };

  test("a bundled module exports the schemas, rules and numbers of its source", async () => {
    const files = [...new Set(entries.flatMap(listCarried))].filter((file) => CARRIED.test(file));

    const compared = await compareBundled(files, BUNDLE.plugins);

    expect(compared.flatMap(({ differences }) => differences)).toEqual([]);
    expect(compared.reduce((sum, { schemas }) => sum + schemas, 0)).toBeGreaterThan(SCHEMAS_MIN);
  });

  test("the comparison reports the path of a bundled value that differs from its source", async () => {
    const file = "packages/api/src/endpoints/download-job.ts";
    const plant: Plugin = {
      name: "a text instead of a schema",
      setup: (made) => {
        made.onLoad({ filter: /download-job\.ts$/ }, async ({ path }) => ({
          contents: readFileSync(path, "utf8").replace("filter: describe(", 'filter: ("", '),
          loader: "ts",
        }));
      },
    };

    const [compared] = await compareBundled([file], [plant, ...BUNDLE.plugins]);

    expect(compared?.differences).toEqual([
      expect.stringContaining(`${file}.downloadJob.query.entries.filter: schema optional became`),
    ]);
  });
});

test("no bundle contains an example of a mail server's reply", () => {
  const carriers = entries.filter((entry) =>
    readFileSync(bundleFileOf(entry), "utf8").includes("address harvesting is not welcome"),
  );

  expect(carriers).toEqual([]);
});

test("no bundle of an endpoint contains the words of the reference", () => {
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

test("every bundle starts with its settings alone, and none loads Node's fetch", async () => {
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

test("the bundle of $default contains the dashboard", async () => {
  const { "/app/": page } = await serveFromBundle(["/app/"]);

  expect(page).toMatchObject({ statusCode: 200 });
  expect(toBytes(page).toString()).toContain('<div id="app">');
});

describe("a document in a bundle", () => {
  const paths = Object.keys(texts()).filter((path) => path !== MISSING_PAGE);
  const findHere = documentsFrom(openWriters);
  let served: Record<string, any> = {};
  beforeAll(async () => {
    served = await serveFromBundle(paths);
  });

  test.each(paths)("the bundle serves %s as the source does", (path) => {
    const { domainName } = toEvent({ method: "GET", url: path }).requestContext;

    const there = served[path];

    const request = {
      method: "GET",
      rawPath: path,
      headers: {},
      baseUrl: `https://${domainName}`,
    };
    const here = findHere(request, null);
    expect(toBytes(there).toString()).toBe(here?.body);
    expect(there).toMatchObject({
      statusCode: 200,
      headers: { ...here?.headers, vary: expect.stringMatching(/accept-encoding$/) },
    });
  });
});
