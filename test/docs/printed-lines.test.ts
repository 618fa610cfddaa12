import { existsSync, globSync, readFileSync } from "node:fs";
import { endpoints } from "@mailproof/api/endpoints";
import { docsPage } from "@mailproof/docs-site/page";
import { listOptions } from "@mailproof/local/cli/command-options";
import { commands } from "@mailproof/local/cli/commands";
import { loadCommand } from "@mailproof/local/cli/define-command";
import { parseSync, Visitor } from "vite";
import { expect, test } from "vitest";

// Every command line that a page, a hint of the command line or a file of deploy/ prints is understood by what would run it:
// its command and options exist, and so do its script, its file and its route. README.md's lines run in readme.test.ts.

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

/** The texts of the command line: each template or string that names a command. A value stands as X. */
const listFromSource = (from: string): readonly Line[] => {
  const found: string[] = [];
  new Visitor({
    TemplateLiteral: ({ quasis, expressions }) => {
      const text = quasis.map(({ value }, index) => {
        const next = expressions[index];
        const isProgram = next?.type === "Identifier" && next.name === "PROGRAM";
        return `${value.cooked ?? ""}${next ? (isProgram ? "npx mailproof" : "X") : ""}`;
      });
      found.push(text.join(""));
    },
    Literal: ({ value }) => {
      if (typeof value === "string") found.push(value);
    },
  }).visit(parseSync(from, readFileSync(from, "utf8")).program);
  return found.flatMap((text) =>
    [...text.matchAll(/npx mailproof [^"`\n;()]+/g)].map(([line]) => ({ from, text: line })),
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
  const known = ["help", ...listOptions(await loadCommand(entry)).map(({ name }) => name)];
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

const ROUTES = endpoints.map(({ route }) => route.split(" ")[1]?.replaceAll(/\{\w+\}/g, "[^/?]+"));
const OTHER_PATHS =
  /^\/(?:docs|health|status|mcp|metrics|openapi\.json|\.well-known\/|v1\/operator\/|client)/;
const runCurl: Runner = (text) => {
  const path = /(?:\$\{?MAILPROOF_API\}?|https?:\/\/[^\s/'"]+)(\/[^\s'"?]*)/.exec(text)?.[1];
  if (path === undefined || OTHER_PATHS.test(path) || !path.startsWith("/v1/")) return null;
  return ROUTES.some((route) => new RegExp(`^${route}$`).test(path)) ? null : `no route ${path}`;
};

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

test("every printed command line is one that its program understands", async () => {
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
