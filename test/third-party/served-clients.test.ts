import { execFile } from "node:child_process";
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { CLIENTS_OF_CLONE } from "@mailproof/local/server/client-files";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildClients, packFiles } from "../../scripts/build/clients.ts";
import { withServer } from "../../scripts/start-server.ts";
import { createFolder } from "../servers/running.ts";
import { findToolAbsence, getToolFolder, type Tool } from "./tools.ts";

// Goal: a reader of the manual has a client in a minute, in each of its languages.
// Method: what its page says is done word by word: its install lines, then its program, against the server that has both.

const LIST = "name,email\nAda,valid@example.com\nNone,invalid@example.com\n";

type Env = Readonly<Record<string, string>>;

const run = async (command: string, args: readonly string[], cwd: string, env: Env) =>
  promisify(execFile)(command, args, { cwd, env: { ...process.env, ...env } });

type Language = {
  readonly name: string;
  readonly tool: Tool | null;
  /** What a reader of the manual has before: an empty project, and no registry but what was fetched. */
  readonly prepare: (folder: string) => Promise<Env> | Env;
  readonly file: string;
  readonly command: readonly [program: string, ...args: string[]];
};

const HERE = join(import.meta.dirname, "tools/generators/go");
const PYTHON = getToolFolder("python_generators");
const MODULES = join(getToolFolder("go_generators"), "modules");

/** A fresh environment that finds the packages of the generator's, as if pip had fetched them. */
const createVenv = async (folder: string): Promise<Env> => {
  const venv = join(folder, "venv");
  await run(join(PYTHON, "bin/python"), ["-m", "venv", venv], folder, {});
  const [packages = ""] = globSync(join(PYTHON, "lib/python*/site-packages"));
  const [own = ""] = globSync(join(venv, "lib/python*/site-packages"));
  writeFileSync(join(own, "fetched.pth"), `${packages}\n`);
  return { PATH: `${venv}/bin:${process.env["PATH"]}`, PIP_NO_INDEX: "1" };
};

const LANGUAGES: readonly Language[] = [
  {
    name: "TypeScript",
    tool: null,
    prepare: (folder) => {
      writeFileSync(join(folder, "package.json"), '{"type": "module"}');
      return { npm_config_audit: "false", npm_config_fund: "false" };
    },
    file: "program.ts",
    command: [process.execPath, "program.ts"],
  },
  {
    name: "Python",
    tool: "python_generators",
    prepare: createVenv,
    file: "program.py",
    command: ["python", "program.py"],
  },
  {
    name: "Go",
    tool: "go_generators",
    prepare: (folder) => {
      // The sums of what was fetched are known; that of our client is in no database, as the page says.
      copyFileSync(join(HERE, "go.sum"), join(folder, "go.sum"));
      writeFileSync(join(folder, "go.mod"), "module example.test/program\n\ngo 1.26.0\n");
      return {
        // Fresh: a version that was fetched before would be taken from there.
        GOMODCACHE: join(folder, "modules"),
        GOPROXY: `file://${MODULES}/cache/download`,
        GOFLAGS: "-modcacherw",
      };
    },
    file: "main.go",
    command: ["go", "run", "."],
  },
];

/** The fenced parts of the page, in its order. */
const readFences = (page: string) =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));

describe("the clients that the server has", () => {
  const server = Promise.withResolvers<{ readonly url: string; readonly key: string }>();
  const done = Promise.withResolvers<void>();
  let running: Promise<void>;
  beforeAll(async () => {
    mkdirSync(dirname(CLIENTS_OF_CLONE), { recursive: true });
    writeFileSync(CLIENTS_OF_CLONE, packFiles(await buildClients(() => {})));
    running = withServer(async ({ base_url: url, test_key: key }) => {
      server.resolve({ url, key });
      await done.promise;
    });
    await server.promise;
  });
  afterAll(async () => {
    done.resolve();
    await running;
  });

  for (const { name, tool, prepare, file, command } of LANGUAGES)
    test(`the page's lines install the client for ${name}, and its program takes a file through all three steps`, async ({
      skip,
    }) => {
      const absence = tool && findToolAbsence(tool);
      if (absence) skip(absence);
      const { url, key } = await server.promise;
      const page = await (await fetch(`${url}/docs/clients.md`)).text();
      const [, install = ""] =
        new RegExp(`^#+ ${name}\n\n\`\`\`sh\n([\\s\\S]*?)\n\`\`\``, "m").exec(page) ?? [];
      const { text = "" } =
        readFences(page).find((one) => one.language === name.toLowerCase()) ?? {};
      const folder = createFolder();
      const env = { ...(await prepare(folder)), MAILPROOF_KEY: key };
      writeFileSync(join(folder, "customers.csv"), LIST);
      writeFileSync(join(folder, file), text);

      await run("bash", ["-euc", install], folder, env);
      const [program, ...args] = command;
      await run(program, args, folder, env);

      const rows = readFileSync(join(folder, "results.csv"), "utf8").trim().split("\r\n");
      expect(rows.map((row) => row.split(",").slice(0, 4))).toEqual([
        ["name", "email", "mailproof_email", "status"],
        ["Ada", "valid@example.com", "valid@example.com", "valid"],
        ["None", "invalid@example.com", "invalid@example.com", "invalid"],
      ]);
    });
});
