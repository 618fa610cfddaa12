import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { loadDashboard } from "@mailproof/local/server/dashboard-build";
import { expect, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";

/** The whole architecture, as data. A package may import itself, what is listed, and nothing else. */
const MAY_IMPORT: Record<string, RegExp> = {
  // What RFCs and receivers say: it knows no account, no credit and no job, and could be published by itself.
  mail: /^(jose|valibot|node:crypto|node:url|node:zlib)$/,
  core: /^(@mailproof\/mail\/|valibot$|node:(crypto|stream|url|zlib)$)/,
  api: /^(@mailproof\/(mail|core)\/|valibot$)/,
  // The archives of the clients are files, hashes and compressed bytes.
  "docs-site": /^(@mailproof\/((mail|core|api)\/|guard\/built$)|valibot$|node:(crypto|fs|zlib)$)/,
  net: /^(@mailproof\/(mail|core)\/|socks$|jose$|nodemailer$|openid-client$|@simplewebauthn\/server$|node:)/,
  mcp: /^(@mailproof\/(core|api)\/|@modelcontextprotocol\/server$)/,
  // Published, so all of it is its own; it knows no host, and no host's modules.
  client: /$^/,
  // Other people's pages include it.
  guard: /$^/,
  // It runs in a browser, and has nothing of the service but its public routes, and the reader of lists: a price that is
  // shown before a list is sent must be the price that is charged. And the tables of scopes, roles and advice, which stand
  // alone, and what a page includes of the guard.
  dashboard:
    /^(@mailproof\/client(\/random-id)?$|@mailproof\/core\/(accounts\/scopes|intake\/(byte-text|open-list|text-set|vendors|spreadsheet\/.*)|lib\/(read-stream|zip)|people\/roles|verify\/send-advice)$|@mailproof\/mail\/address(-cell)?$|@mailproof\/guard\/built$|@preact\/signals$|@simplewebauthn\/browser$|preact$|preact\/hooks$)/,
  lab: /^(@mailproof\/(mail|core)\/|dns-packet$|jose$|node:)/,
  local:
    /^(@mailproof\/(mail|core|api|docs-site|net|lab|client|mcp)\/|@opentelemetry\/api$|prom-client$|valibot$|node:)/,
  functions:
    /^(@mailproof\/(mail|core|api|docs-site|net|mcp)\/|@aws-lambda-powertools\/|@aws-sdk\/(client-(dynamodb|s3|sqs)|lib-dynamodb|util-dynamodb|s3-request-presigner)$|@middy\/|@smithy\/(signature-v4|node-http-handler)$|aws-lambda$|node:)/,
};

/** Every way to name another file: import, export … from, import(), require. Sentences that say "from" are none. */
const IMPORT =
  /(?:^|;)\s*(?:import|export)\b(?:[^"';]*?\bfrom)?\s*["']([^"']+)["']|\b(?:import|require)\s*\(\s*["'`]([^"'`]+)["'`]/gm;
/** A program of the manual, which is a text here. */
const PROGRAM = /^const [A-Z_]+ = `[^`]*`;$/gm;
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

const getImports = (file: string) =>
  [
    ...readFileSync(file, "utf8").replaceAll(COMMENT, "").replaceAll(PROGRAM, "").matchAll(IMPORT),
  ].map(([, named, called]) => named ?? called ?? "");

const packages = globSync("packages/*").map((path) => basename(path));
/** Our files import each other some 2,400 times: a test that finds less than half of that does not read them. */
const IMPORTS_MIN = 1_200;
const getSources = (name: string) => globSync(`packages/${name}/src/**/*.{ts,tsx}`);

test("the test reads the imports of every package", () => {
  expect(packages.toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
  const unread = packages.filter((name) => getSources(name).flatMap(getImports).length === 0);
  expect(unread).toEqual([]);
});

test.each(packages)("packages/%s imports only what its row allows", (name) => {
  const allowed = MAY_IMPORT[name] ?? /$^/;
  const strays = getSources(name).flatMap((file) =>
    getImports(file)
      .filter((imported) => !imported.startsWith(".") && !allowed.test(imported))
      .map((imported) => `${file} imports ${imported}`),
  );

  expect(strays).toEqual([]);
});

test.each(packages)("packages/%s imports no file of another package by a path", (name) => {
  const home = `packages/${name}/`;
  const strays = getSources(name).flatMap((file) =>
    getImports(file)
      .filter((imported) => imported.startsWith("."))
      .map((imported) => new URL(imported, `file:///${file}`).pathname.slice(1))
      .filter((reached) => !reached.startsWith(home))
      .map((reached) => `${file} reaches into ${reached}`),
  );

  expect(strays).toEqual([]);
});

/** The files of our packages that a file imports, types included. */
const filesImportedBy = (file: string): readonly string[] =>
  getImports(file).map((imported) =>
    imported.startsWith(".")
      ? new URL(imported, `file:///${file}`).pathname.slice(1)
      : imported.replace(/^@mailproof\/([\w-]+)\/(.*)$/, "packages/$1/src/$2.ts"),
  );

test("no file imports itself through others, not even for its types", () => {
  const all = packages.flatMap(getSources);
  const graph = new Map(
    all.map((file) => [file, filesImportedBy(file).filter((to) => all.includes(to))]),
  );
  expect([...graph.values()].flat().length).toBeGreaterThan(IMPORTS_MIN);

  // A file that imports nothing of what is left, or that nothing left imports, is in no circle.
  let left = graph;
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    const imported = new Set([...left.values()].flat());
    left = new Map(
      [...left].filter(
        ([file, imports]) => imported.has(file) && imports.some((to) => left.has(to)),
      ),
    );
  }

  expect([...left.keys()]).toEqual([]);
});

/** The rooms of core. A room may import those before it; `app-world.ts` stands before the last. */
const ROOMS =
  "ports lib runtime requests money webhooks accounts people intake smtp-pool egress calibration verify receipts find rows find-rows lists exports control verify-one deliverability mails activity erasure app-world.ts background".split(
    " ",
  );

/** What imports a later room all the same: a debit emits an event. */
const UPWARD = ["money/thresholds.ts imports webhooks/items.ts"];

test("each folder of core imports only folders before it", () => {
  const core = "packages/core/src/";
  const sources = getSources("core");
  const floor = (file: string) => ROOMS.indexOf(file.slice(core.length).split("/")[0] ?? "");
  const upward = sources.flatMap((file) =>
    filesImportedBy(file)
      .filter((reached) => reached.startsWith(core) && floor(reached) > floor(file))
      .map((reached) => `${file.slice(core.length)} imports ${reached.slice(core.length)}`),
  );

  expect(sources.filter((file) => floor(file) === -1)).toEqual([]);
  expect(upward.toSorted()).toEqual(UPWARD.toSorted());
});

/** What every other package stands on: no feature, and nothing that knows one. */
const FOUNDATION = [
  "blobs",
  "free-space",
  "https",
  "mailer",
  "pressure",
  "queue",
  "settings",
  "table",
];

test("the world contains ports and settings, and no feature", () => {
  const strays = filesImportedBy("packages/core/src/ports/world.ts").filter(
    (file) => !FOUNDATION.includes(basename(file, ".ts")),
  );

  expect(strays).toEqual([]);
});

type Manifest = Partial<
  Record<"dependencies" | "devDependencies" | "optionalDependencies", Record<string, string>>
>;

const manifests = [
  "package.json",
  "bench/package.json",
  "infra/package.json",
  "scripts/tools/package.json",
  "test/clients/package.json",
  ...globSync("packages/*/package.json"),
];

test.each(manifests)("the manifest %s states exact versions", (file) => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
    readFileSync(file, "utf8"),
  ) as Manifest;
  const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });

  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

test.each(["package-lock.json", "scripts/tools/package-lock.json", "infra/package-lock.json"])(
  "the lock file %s contains no address to download from",
  (file) => {
    expect(readFileSync(file, "utf8")).not.toMatch(/"resolved": "https?:/);
  },
);

// A text, a comment, a template up to its first ${, or a pattern where one may begin. Their contents are not code.
const NOT_CODE =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?<=[=(,:[!&|?{};\n]\s*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g;

/** A source without its texts and comments: "Date.now" in a sentence is not a clock. */
const getCode = (file: string): string =>
  readFileSync(file, "utf8").replaceAll(NOT_CODE, (found) => (found.startsWith("/") ? " " : '""'));

/** What a world brings, so that no code in core or api may get it elsewhere. */
const AMBIENT: readonly (readonly [what: string, pattern: RegExp])[] = asRows`
  a clock | ${/\bDate\s*(?:\.\s*now|\[)|\bnew\s+Date\b(?!\s*\(\s*[^)\s])|=\s*Date\b(?!\s*\.)|\bperformance\b|\bhrtime\b|\bTemporal\b|\bDateTimeFormat\b/}
  chance | ${/\bMath\s*(?:\.\s*random|\[)|=\s*Math\b(?!\s*\.)|\brandom(?:UUID|Int)\b|\bgetRandomValues\b/}
  a timer | ${/\bset(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|\bAbortSignal\s*\./}
  the environment | ${/(?<![.\w"])process\s*[.[]|\bglobalThis\b|\beval\s*\(|\bFunction\s*\(/}
  the network | ${/(?<![.\w])fetch\b(?!\s*:)|\bWebSocket\b|\bEventSource\b|\bXMLHttpRequest\b/}
  the terminal | ${/\bconsole\b/}
`;

/** Imports by name, and none of a random function: a namespace import would hide it. */
const CRYPTO =
  /import\s+(?:\*|\w+\s*,|\w+\s+from)[^;]*"node:crypto"|import\s*\{[^}]*\b(?:random\w+|webcrypto|getRandomValues)\b[^}]*\}\s*from\s*"node:crypto"/;

const sources = globSync("packages/{core,api,docs-site}/src/**/*.ts");

/** Code as text, for a browser and for readers' machines: this process runs none of it. */
const FOR_OTHERS = ["clients/programs", "form-programs", "programs", "script", "snippets"].map(
  (name) => `packages/docs-site/src/${name}.ts`,
);

test.each(AMBIENT)("core, api and docs-site take %s from their world", (what, pattern) => {
  const strays = sources
    .filter((file) => !FOR_OTHERS.includes(file))
    .filter((file) => pattern.test(getCode(file)));

  expect(strays, `these get ${what} past their world`).toEqual([]);
});

test("core and api import no source of randomness from node:crypto", () => {
  expect(sources.filter((file) => CRYPTO.test(readFileSync(file, "utf8")))).toEqual([]);
});

test("the import rules cover every source file", () => {
  const others = globSync("packages/*/src/**/*.{mts,cts,js,mjs,cjs,jsx,tsx}", {
    // A browser's own code, which has its own clock and network.
    exclude: ["packages/dashboard/**"],
  });

  expect(others).toEqual([]);
  expect(sources.length).toBeGreaterThan(20);
});

/** A name that only Node has, as a bundler leaves it; `process` is in programs that the dashboard prints. */
const NODE_GLOBAL = /(?<![\w$.'"`])(?:Buffer|__dirname)\.\w+/g;

test("no script of the dashboard uses a global that only Node has", async () => {
  const files = Object.entries(await loadDashboard(AbortSignal.timeout(300_000)));
  const scripts = files.filter(([name]) => name.endsWith(".js"));

  const found = scripts.flatMap(([name, { text }]) =>
    [...text.matchAll(NODE_GLOBAL)].map(([used]) => `${name}: ${used}`),
  );

  expect(scripts.length).toBeGreaterThan(20);
  expect(found).toEqual([]);
});
