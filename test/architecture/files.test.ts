import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { LOG_LEVELS } from "@mailproof/core/runtime/log-levels";
import { expect, test } from "vitest";
import { STORIES_ON_AWS } from "../aws/second-stack.ts";
import { readInTest } from "../runner/describe-when.ts";
import { formatLeftOut } from "../runner/results.reporter.ts";

const files = globSync("{*.ts,{packages,infra,scripts,bench,test}/**/*.{ts,tsx,mjs}}", {
  exclude: ["**/node_modules/**", "**/dist/**", "**/generated/**"],
});
const texts = new Map(files.map((file) => [file, readFileSync(file, "utf8")]));

/** Tables, as long as what they list. */
const TABLES = [
  "packages/api/src/openapi/examples.ts",
  "packages/client/src/types.ts",
  "packages/mail/src/lists/data/broad.ts",
  "packages/mail/src/lists/data/disposable.ts",
];
const LINES_MAX = 350;

test("a source file stays short, unless it contains a table", () => {
  const long = [...texts].filter(
    ([file, text]) => !file.startsWith("test/") && text.split("\n").length > LINES_MAX,
  );

  expect(long.map(([file]) => file).toSorted()).toEqual(TABLES);
});

/** Read by AWS or by the bundler: their users are not in the tree. */
const FOR_OTHERS =
  /^packages\/functions\/src\/(?:(?:http|workers|schedules)\/|sdk-stubs)|\.d\.ts exports/;
const EXPORT = /^export (?:async )?(?:const|function\*?|class|type) (\w+)/gm;

/** Exports that only tests read, by what the tests do with them. */
const FOR_TESTS: Readonly<Record<string, readonly string[]>> = {
  "numbers and rules that docs/scores.md prints: a test compares the page with them": [
    "ADJUSTMENTS",
    "BANDS",
    "CANDIDATES_MAX",
    "CAPS",
    "CATCH_ALL_WEIGHT",
    "DKIM_RULES",
    "DMARC_RULES",
    "GRADES",
    "HIGH_FROM",
    "HINT_RULES",
    "IDENTITY_SHARES",
    "LISTING_MAX",
    "MEDIUM_FROM",
    "MX_RULES",
    "NEGATIVE",
    "NOTE_RULES",
    "POSITIVE",
    "PTR_RULES",
    "SCORE_PARTS",
    "STATUS_ORDER",
    "VERDICT_WEIGHTS",
    "listCatchAllParts",
    "listBotSignals",
  ],
  "rules that docs/design/mail-slots.md has as a table: a test compares the page with them": [
    "RULES",
  ],
  "tables that a test compares with another list": [
    "NAMES_BY_COUNTRY",
    "SPECIAL_BLOCKS",
    "UNDOCUMENTED",
  ],
  "certificates: a test serves with them": [
    "PUBLIC_AND_WORTHLESS_CERTIFICATE",
    "PUBLIC_AND_WORTHLESS_KEY",
    "createSelfSigned",
  ],
  "tools of a build: a test builds with its own keys": ["readListsModules"],
  "claims of a receipt: a test encodes and signs its own": ["encodeClaims", "signClaims"],
  "limits: a test goes up to the number and one beyond": [
    "DAILY_LIMITS",
    "PRESSURE_LIMITS",
    "RETRY_SCHEDULES",
    "SESSIONS_INTO_BLOCK_MAX",
    "UPLOAD_LIMITS",
  ],
  "documented answers of test keys and of the lab: a test asks for each": [
    "SANDBOX_DAYS",
    "SANDBOX_DOMAINS",
    "SANDBOX_MAILBOXES",
    "SANDBOX_REPUTATIONS",
    "SANDBOX_SENDERS",
    "getStaff",
  ],
  "the lab's issuer and browser: a test makes tokens, and ones with a fault": [
    "createLabToken",
    "createSigningKey",
  ],
  "the manual's own texts and programs: a test runs or compares them": [
    "DECISION",
    "TEST_ADDRESSES",
    "isFromMailproof",
  ],
  "every screen of the dashboard: a test tries each": ["OPERATOR_SCREENS", "SCREENS"],
  "one step of a longer computation: its cases are too many to be seen apart in the final result": [
    "DAY_SUMS",
    "chooseThread",
    "chooseThreads",
    "computePressure",
    "coversHost",
    "createDkimIssue",
    "createLossCheck",
    "createReceiver",
    "equalizeTiming",
    "formatAdminOutput",
    "formatCalibration",
    "formatError",
    "formatProviders",
    "parseParameters",
    "parsePolicy",
    "showReceipt",
    "signRequest",
    "toSigningKey",
    "toUuid",
    "toZone",
  ],
  "a port's inner half, which a test gives other parts": [
    "createLog",
    "createMetricLog",
    "createRemoteProbe",
    "testSignIn",
    "watchThread",
  ],
  "limits that a test lowers, and a figure without the machine it is read from": [
    "READING_LIMITS",
    "computeMemoryShare",
  ],
  "steps of a build or a deployment: a test takes them one by one": [
    "ALARMS",
    "DOMAIN_NAME",
    "buildGuard",
    "bundleClient",
    "findFaults",
    "findUnreleased",
    "listDimensions",
    "listIdleCosts",
    "formatPage",
    "loadShipped",
    "listPublishedNames",
    "readDataLicences",
    "toEntry",
    "toWorkerEntry",
  ],
};
const FOR_TESTS_NAMES = Object.values(FOR_TESTS).flat();

/** Each exported name that no other file of the product uses. A type that its own file uses is exported for readers. */
const listUnused = (isUser: (file: string) => boolean) => {
  const usersOf = new Map<string, number>();
  for (const [file, text] of texts)
    if (isUser(file))
      for (const name of new Set(text.match(/\w+/g)))
        usersOf.set(name, (usersOf.get(name) ?? 0) + 1);
  return [...texts].flatMap(([file, text]) =>
    [...text.matchAll(EXPORT)]
      .filter(([found, name = ""]) => {
        const isOwnType = found.includes(" type ") && text.match(new RegExp(`\\b${name}\\b`, "g"));
        const users = (usersOf.get(name) ?? 0) - (isUser(file) ? 1 : 0);
        return users === 0 && !(isOwnType && isOwnType.length > 1);
      })
      .map(([, name = ""]) => ({ file, name })),
  );
};

test("another file uses each export, unless the export is a type that its own file uses", () => {
  const unused = listUnused(() => true).map(({ file, name }) => `${file} exports ${name}`);

  expect(unused.filter((one) => !FOR_OTHERS.test(one))).toEqual([]);
});

const isProduct = (file: string) => !file.startsWith("test/");
const unusedByProduct = listUnused(isProduct).filter(
  ({ file, name }) => isProduct(file) && !FOR_OTHERS.test(`${file} exports ${name}`),
);

test("the product uses each of its exports, or a list contains the export as needed by tests", () => {
  const stray = unusedByProduct.filter(({ name }) => !FOR_TESTS_NAMES.includes(name));

  expect(stray.map(({ file, name }) => `${file} exports ${name}`)).toEqual([]);
});

test("only tests use the exports that the list reserves for them", () => {
  const names = unusedByProduct.map(({ name }) => name);

  expect(FOR_TESTS_NAMES.filter((name) => !names.includes(name))).toEqual([]);
  expect(new Set(FOR_TESTS_NAMES).size).toBe(FOR_TESTS_NAMES.length);
});

/** The packages whose code logs. */
const LOGGING = ["core", "api", "net", "mcp", "functions", "local"];

/** The event is the first argument, a string or a choice of two. */
const CALL = /\blog(?:\?\.)?\(\s*(?:[\w.]+ \? )?"(\w+)"(?: : "(\w+)")?/g;
const HIDDEN = /\bhideCause\(\s*[\w.]+,\s*"(\w+)"/g;

test("every logged event has a level, and every level has an event", () => {
  const texts = LOGGING.flatMap((name) => globSync(`packages/${name}/src/**/*.ts`)).map((file) =>
    readFileSync(file, "utf8"),
  );
  const logged = texts.flatMap((text) =>
    [...text.matchAll(CALL), ...text.matchAll(HIDDEN)].flatMap(([, ...events]) =>
      events.filter((event) => event !== undefined),
    ),
  );

  expect(Object.keys(LOG_LEVELS).toSorted()).toEqual([...new Set(logged)].toSorted());
});

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

test("the test finds style sheets of screens, and components with classes", () => {
  expect(ownSheets.length).toBeGreaterThan(8);
  expect(components.filter(({ classes }) => classes.size > 0).length).toBeGreaterThan(40);
});

test.each(ownSheets.map((path) => [basename(path), path]))(
  "every rule of %s selects a class or an id of its own screen",
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

/** This file names the words it bans; the helper leaves a suite out loudly, and never in CI. */
const EXEMPT = ["test/architecture/files.test.ts", "test/runner/describe-when.ts"];

const testsWith = (pattern: RegExp) =>
  globSync("test/**/*.ts", { exclude: ["**/node_modules/**", "**/generated/**"] })
    .filter((file) => !EXEMPT.includes(file))
    .filter((file) => pattern.test(readFileSync(file, "utf8")));

test("no test file uses skip, only or todo, which would leave out tests in silence", () => {
  expect(testsWith(/\.(?:skip|only|todo|skipIf|runIf)\b|\bx(?:it|test|describe)\(/)).toEqual([]);
});

test("each story that the second stack lists exists", () => {
  const missing = STORIES_ON_AWS.filter((name) => !existsSync(`test/story/${name}.test.ts`));

  expect(missing).toEqual([]);
});

test("no test retries until it passes", () => {
  expect(testsWith(/\bretry:\s*\d/)).toEqual([]);
});

test("no test names a file outside this repository, which describeOver reads inside a test", () => {
  expect(testsWith(/["'`/]\.\.\/(?:\.\.\/)*shared\//)).toEqual([]);
});

const readManifest = readInTest("package.json");
const whileCollecting = Promise.try(readManifest).catch(String);

test("a test file fails to read a file outside this repository during collection", async () => {
  expect(await whileCollecting).toBe("Error: package.json may be absent: read it inside a test.");
  expect(readManifest()).toContain('"mailproof"');
});

test("the last lines of a run list each suite that was left out, with the reason", () => {
  const leftOut = { name: "Exim on loopback", tests: 14, reason: "there is no Exim" };

  expect(formatLeftOut([leftOut])).toEqual([
    "Left out:",
    "  Exim on loopback (14 tests): there is no Exim.",
  ]);
  expect(formatLeftOut([])).toEqual([]);
});
