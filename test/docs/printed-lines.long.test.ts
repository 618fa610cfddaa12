import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { endpoints } from "@mailproof/api/endpoints";
import { docsPage } from "@mailproof/docs-site/page";
import { listOptions } from "@mailproof/local/cli/command-options";
import { commands } from "@mailproof/local/cli/commands";
import { type Command, loadCommand } from "@mailproof/local/cli/define-command";
import { readOptions } from "@mailproof/local/cli/read-options";
import { parseSync, Visitor } from "vite";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { PACKAGE_FOLDER } from "../servers/package.ts";

// Every command line that a page, a hint of the command line or a file of deploy/ prints is understood by what would run it:
// its command and options exist, and so do its script, its file and its route. README.md's lines run in readme.shipped.test.ts.

type Line = { readonly from: string; readonly text: string };

const PAGES = ["*.md", "docs/**/*.md", "packages/*/README.md", "scripts/lists/*.md"];

/** What a reader types: the lines of shell blocks, and code in a sentence that begins with a program. */
const listFromMarkdown = (from: string): readonly Line[] => {
  const text = readFileSync(from, "utf8");
  const blocks = [...text.matchAll(/^```(?:sh|bash)\n(.*?)^```/gms)].flatMap(([, body = ""]) =>
    splitScript(body),
  );
  const typed = [...text.matchAll(/^\$ (.*)$/gm)].map(([, line = ""]) => line);
  const spans = [...text.replaceAll(/^```.*?^```/gms, "").matchAll(/`([^`\n]+)`/g)]
    .map(([, span = ""]) => span.replaceAll("\\|", "|"))
    .filter((span) => /^[a-z]/.test(span) && RUNNERS.has(findProgram(span)) && span.includes(" "));
  return [...blocks, ...typed, ...spans].map((line) => ({ from, text: line }));
};

/** Lines of a script, without comments and without the files that it writes; a backslash joins two. */
const splitScript = (script: string): readonly string[] =>
  script
    .replaceAll(/<<'(\w+)'\n.*?^\1$/gms, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => line.replace(/(?:^|\s)# .*$/, "").trim())
    .filter((line) => line !== "" && !line.startsWith("#"));

/** Each string, template and text between tags of a source. A value in a template stands as X, the program as PROGRAM. */
const listTexts = (from: string): readonly string[] => {
  const found: string[] = [];
  new Visitor({
    TemplateLiteral: ({ quasis, expressions }) => {
      const text = quasis.map(({ value }, index) => {
        const next = expressions[index];
        const isProgram = next?.type === "Identifier" && next.name === "PROGRAM";
        return `${value.cooked ?? ""}${next ? (isProgram ? "PROGRAM" : "X") : ""}`;
      });
      found.push(text.join(""));
    },
    Literal: ({ value }) => {
      if (typeof value === "string") found.push(value);
    },
    JSXText: ({ value }) => {
      found.push(value);
    },
  }).visit(parseSync(from, readFileSync(from, "utf8")).program);
  return found;
};

/** Up to where the sentence goes on. */
const COMMAND = /npx mailproof (?:(?! {2}|[,:] )[^"`\n;()])+/g;

/** The texts of the command line that name a command. */
const listFromSource = (from: string): readonly Line[] => {
  if (!/PROGRAM|npx mailproof /.test(readFileSync(from, "utf8"))) return [];
  return listTexts(from).flatMap((text) =>
    [...text.replaceAll("PROGRAM", "npx mailproof").matchAll(COMMAND)].map(([line]) => ({
      from,
      text: line,
    })),
  );
};

const listFromDeploy = (from: string): readonly Line[] =>
  [
    ...readFileSync(from, "utf8").matchAll(
      /(?:npx |exec mailproof |bin\/)(mailproof [a-z][^"`\n;)]*)/g,
    ),
  ].map(([, text = ""]) => ({ from, text }));

const decode = (text: string): string =>
  text
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");

const listFromManual = (): readonly Line[] =>
  [...docsPage("http://127.0.0.1:8787").matchAll(/<code[^>]*>(.*?)<\/code>/gs)]
    .map(([, body = ""]) => decode(body).replaceAll(/\\\n\s*/g, ""))
    .filter((text) => !text.includes("\n") || text.startsWith("curl "))
    .flatMap((text) => text.split(/\n\s*(?=curl )/))
    .filter((text) => RUNNERS.has(findProgram(text)) && text.includes(" "))
    .map((text) => ({ from: "the manual", text }));

/** The program of a line: behind settings, and behind npx where npx starts a command of this tree. */
const findProgram = (text: string): string => {
  const words = text.replace(/^(?:export )?(?:[A-Z_]+=\S*(?:\s+|$))*/, "").split(/\s+/);
  if (words[0] === "") return "export";
  return words[0] === "npx" ? `npx ${words[1]}` : (words[0] ?? "");
};

/** A bracket is that of a usage, where | divides choices. */
const splitCommands = (text: string): readonly string[] =>
  text.split(/[[(]/.test(text) ? " && " : / && | \| /);

type Runner = (text: string) => Promise<string | null> | string | null;

/** What stands for a value in a line, and a value that the option takes. */
const PLACEHOLDERS: readonly (readonly [placeholder: RegExp, value: string])[] = [
  [/(?<=--api )X\b|\bURL\b/g, "https://api.example.com"],
  [/(?<=--email )E\b/g, "ada@example.com"],
  [/(?<=--days )N\b/g, "7"],
  [/(?<=--queue )Q\b/g, "chunks"],
  [/(?<=--\w+ \w+)\|[\w|]+/g, ""],
];

/** What the parser of the command line says of a line that can be typed: one without the brackets of a usage. */
const findUsageFault = (command: Command, text: string): string | null => {
  if (/[[(…]|\.\.\./.test(text)) return null;
  const words = splitWords(
    PLACEHOLDERS.reduce((line, [placeholder, value]) => line.replaceAll(placeholder, value), text),
  );
  const start = words.findIndex((word) => word.endsWith("mailproof")) + 1;
  const args = words.slice(start + command.name.split(" ").length);
  // A sentence names a command without what it requires.
  if (args.length === 0 || args.includes("--help")) return null;
  try {
    readOptions(command, args);
    return null;
  } catch (error) {
    return String(error).split("\n", 1).join();
  }
};

/** As a shell splits them, up to a redirection. */
const splitWords = (text: string): readonly string[] =>
  [...text.replace(/\s[<>].*$/, "").matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"),
  );

const runMailproof: Runner = async (text) => {
  const words = text
    .replace(/^.*?mailproof\s*/, "")
    .split(/\s+/)
    .filter(Boolean);
  // Words of the sentence follow where a quote or a stop ends the command.
  const [first = ""] = words;
  if (/^(?:|[A-Z]+[:,.]?|-.*|help|…|\.\.\.)$/.test(first)) return null;
  const bare = words.map((word) => word.replace(/[.,:…]+$/, ""));
  const entry = commands.findLast(({ name }) =>
    name.split(" ").every((word, index) => bare[index]?.split("|").includes(word)),
  );
  if (!entry)
    return commands.some(({ name }) => name.startsWith(`${first} `)) && words.length === 1
      ? null
      : `no command "${bare.slice(0, 3).join(" ")}"`;
  const command = await loadCommand(entry);
  const fault = findUsageFault(command, text);
  if (fault !== null) return fault;
  const known = ["help", ...listOptions(command).map(({ name }) => name)];
  const unknown = [...text.matchAll(/(?<=[\s[])--([a-z-]+)/g)].filter(
    ([, name = ""]) => !known.includes(name),
  );
  return unknown.length > 0
    ? `${entry.name} has no ${unknown.map(([name]) => name).join(", ")}`
    : null;
};

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
  scripts: Record<string, string>;
};
const runNpm: Runner = (text) => {
  const [, verb = "", name = ""] = /npm (\S+)(?: (\S+))?/.exec(text) ?? [];
  if (["ci", "install", "init", "audit"].includes(verb)) return null;
  const script = verb === "run" ? name : verb;
  return scripts[script] ? null : `package.json has no script ${script}`;
};
const runFile: Runner = (text) => {
  const file = /node (?:--\S+ )*([\w./-]+\.(?:ts|mjs|js))/.exec(text)?.[1];
  return file === undefined || existsSync(file) ? null : `${file} does not exist`;
};

const ROUTES = endpoints.map(
  ({ route }) => new RegExp(`^${route.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
);
const OTHER_PATHS =
  /^\/(?:docs|health|status|mcp|metrics|openapi\.json|\.well-known\/|v1\/operator\/|client)/;

/** An id of the recorded examples, or the reader's own. */
const FOREIGN_ID =
  /\$(?:JOB_ID|FILE_KEY)\b|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\/(?:mlt|mon)_/;

/** Sent in this process, with a test key: an account without the things of the examples may be refused only these. */
const runCurl: Runner = async (text) => {
  const words = splitWords(text);
  const after = (option: string) => words[words.indexOf(option) + 1] ?? "";
  const has = (option: string) => words.includes(option);
  const url = words.find((word) => /^(?:\$MAILPROOF_API|https?:\/\/[^/]+)\//.test(word));
  const { pathname, searchParams } = new URL(
    url?.replace("$MAILPROOF_API", "http://127.0.0.1") ?? "http://127.0.0.1",
  );
  if (OTHER_PATHS.test(pathname) || !pathname.startsWith("/v1/")) return null;
  const [field = "", file = ""] = has("-F") ? after("-F").split("=@") : [];
  const { world, testKey, liveKey } = await curlWorld;
  // A test key makes no live key.
  const key = text.includes('"mode": "live"') ? liveKey : testKey;
  const method = has("-X") ? after("-X") : has("-d") || has("-F") ? "POST" : "GET";
  const route = `${method} ${pathname}`;
  if (!ROUTES.some((one) => one.test(route))) return `no route ${route}`;
  const { statusCode, text: answer } = await send(world, route, {
    key,
    query: Object.fromEntries(searchParams),
    ...(has("-d") && { body: JSON.parse(after("-d")) }),
    ...(file !== "" && {
      form: [{ name: field, fileName: file, content: "email\na@example.com\n" }],
    }),
  });
  if (statusCode < 300 || ([403, 404].includes(statusCode) && FOREIGN_ID.test(text))) return null;
  return `${route} answers ${statusCode}: ${answer}`;
};
const curlWorld = given();

const skip = (reason: string) => ({ reason });
const MACHINE = skip("changes the machine, or needs systemd");
const ELSEWHERE = skip("a program of others, which reads no command of ours");

const RUNNERS: ReadonlyMap<string, Runner | { readonly reason: string }> = new Map<
  string,
  Runner | { readonly reason: string }
>([
  ...["mailproof", "npx mailproof", "./mailproof-linux-x64"].map(
    (name) => [name, runMailproof] as const,
  ),
  ["npm", runNpm],
  ...["node", "npx node"].map((name) => [name, runFile] as const),
  ["curl", runCurl],
  ["aws", skip("needs an AWS account")],
  ["docker", skip("needs Docker")],
  ...["sudo", "systemctl", "useradd", "install", "chown", "mkdir", "ulimit"].map(
    (name) => [name, MACHINE] as const,
  ),
  ...[
    "printf",
    "cut",
    "export",
    "cp",
    "cd",
    "cat",
    "tar",
    "git",
    "dig",
    "sha256sum",
    "openssl",
  ].map((name) => [name, ELSEWHERE] as const),
]);

const LINES: readonly Line[] = [
  ...globSync(PAGES)
    .filter((file) => file !== "CHANGELOG.md")
    .flatMap(listFromMarkdown),
  ...globSync("packages/{local,core,api}/src/**/*.ts").flatMap(listFromSource),
  ...globSync("deploy/**/*.{yaml,service,timer}").flatMap(listFromDeploy),
  ...listFromManual(),
];

test("each program accepts every command line that we print for it", async () => {
  const faults: string[] = [];
  const skipped = new Map<string, number>();
  for (const { from, text } of LINES) {
    for (const one of splitCommands(text)) {
      const runner = RUNNERS.get(findProgram(one));
      if (runner === undefined) faults.push(`${from}: no runner for this line: ${one}`);
      else if (typeof runner !== "function")
        skipped.set(runner.reason, (skipped.get(runner.reason) ?? 0) + 1);
      else {
        const fault = await runner(one);
        if (fault !== null) faults.push(`${from}: ${fault}: ${one}`);
      }
    }
  }
  console.info(
    `${LINES.length} lines; not run: ${[...skipped].map(([why, n]) => `${n} (${why})`).join(", ")}`,
  );

  expect(faults).toEqual([]);
});

/** What is packed: packages/functions is deployed from a clone. */
const SHIPPED =
  "packages/{api,client,core,dashboard,docs-site,guard,lab,local,mail,mcp,net}/src/**/*.{ts,tsx}";

/** Looks for its sources, where there is a clone, and prints nothing. */
const READS_A_CLONE = "packages/local/src/server/dashboard-build.ts";

const FOLDERS = readdirSync(".", { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name))
  .map(({ name }) => name);

/** A path from the root of a clone, or the name of a file there. A path of a server begins with a slash. */
const FILE_NAME = new RegExp(
  String.raw`(?<![\w./-])(?:(?:${FOLDERS.join("|")})(?:/[\w.-]+)+|[\w-]+\.(?:md|json|ts))(?![\w/])`,
  "g",
);

const listAbsentFiles = (text: string): readonly string[] =>
  [...text.matchAll(FILE_NAME)]
    .map(([name]) => name.replace(/\.$/, ""))
    .filter((name) => existsSync(name) || /^docs\/.*\.md$/.test(name))
    .filter((name) => !existsSync(join(PACKAGE_FOLDER, name)));

test("no shipped text refers to a file that exists only in a clone", () => {
  const sources = globSync(SHIPPED).filter((file) => file !== READS_A_CLONE);
  const readmes = [join(PACKAGE_FOLDER, "README.md"), "packages/client/README.md"];
  // Most of what is found here stands in comments: only these files are parsed.
  const suspects = [...sources, ...readmes].filter(
    (file) => listAbsentFiles(readFileSync(file, "utf8")).length > 0,
  );
  const named = suspects.flatMap((file) =>
    listAbsentFiles(
      file.endsWith(".md") ? readFileSync(file, "utf8") : listTexts(file).join("\n"),
    ).map((name) => `${file}: ${name}`),
  );

  expect(named).toEqual([]);
  expect(sources.length).toBeGreaterThan(500);
});

test("the command line prints its program under the installed name", () => {
  const fixed = globSync("packages/local/src/**/*.ts")
    .filter((file) => !file.endsWith("/installation.ts"))
    .filter((file) => readFileSync(file, "utf8").includes("npx mailproof"))
    .filter((file) => listTexts(file).some((text) => text.includes("npx mailproof")));

  expect(fixed).toEqual([]);
});
