import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { endpoints } from "@mailproof/api/endpoints";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildGo, generateGo, generatePython } from "../../scripts/build/clients.ts";
import { withServer } from "../../scripts/start-server.ts";
import { createFolder } from "../servers/running.ts";
import { findToolAbsence, getToolFolder, type Tool } from "./tools.ts";

// Goal: the document is enough for the generators of clients that people use.
// Method: each one, as it is called by default, makes a client of /openapi.json. The client has every operation, compiles
// where its language does, and plays what a customer does against the server. npm's generators are in test/clients.

const HERE = join(import.meta.dirname, "tools/generators");

const run = async (
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> => {
  const env = { ...process.env, ...options.env };
  const limits = { maxBuffer: 100_000_000 };
  return (await promisify(execFile)(command, args, { ...options, ...limits, env })).stdout;
};

type Generator = {
  readonly name: string;
  readonly tools: readonly Tool[];
  /** From openapi.json in the folder; what it makes is there, too. */
  readonly make: (folder: string) => Promise<unknown>;
  /** The files that have the operations, and how one is declared there. */
  readonly files: string;
  readonly declare: (id: string) => string;
  readonly play: (folder: string, args: readonly string[]) => Promise<string>;
};

const toSnake = (id: string): string => id.replaceAll(/[A-Z]/g, (one) => `_${one.toLowerCase()}`);
const toPascal = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1);

const PYTHON = join(getToolFolder("python_generators"), "bin/python");
const JARS = getToolFolder("java_generators");

const runPython = (folder: string, program: string, args: readonly string[]) =>
  run(PYTHON, [join(HERE, "python", program), ...args], { env: { PYTHONPATH: folder } });

const runOpenapiGenerator = (folder: string, language: string) => {
  const options = ["generate", "-g", language, "-i", "openapi.json", "-o", "."];
  const program = "org.openapitools.codegen.OpenAPIGenerator";
  return run("java", ["-cp", `${JARS}/provided/*`, program, ...options], { cwd: folder });
};

const GENERATORS: readonly Generator[] = [
  {
    name: "openapi-python-client",
    tools: ["python_generators"],
    make: async (folder) => generatePython(folder),
    files: "mailproof_client/api/*/*.py",
    declare: (id) => `/${toSnake(id)}.py`,
    play: (folder, args) => runPython(folder, "with_openapi_python_client.py", args),
  },
  {
    name: "openapi-generator for Python",
    tools: ["python_generators", "java_generators"],
    make: (folder) => runOpenapiGenerator(folder, "python"),
    files: "openapi_client/api/*.py",
    declare: (id) => `def ${toSnake(id)}(`,
    play: (folder, args) => runPython(folder, "with_openapi_generator.py", args),
  },
  {
    name: "openapi-generator for Java",
    tools: ["java_generators"],
    make: async (folder) => {
      await runOpenapiGenerator(folder, "java");
      const sources = globSync(join(folder, "src/main/java/**/*.java"));
      writeFileSync(join(folder, "sources"), sources.map((one) => JSON.stringify(one)).join("\n"));
      const options = ["-nowarn", "-cp", `${JARS}/runtime/*`, "-d", "classes", "@sources"];
      await run("javac", [...options, join(HERE, "java/Journey.java")], { cwd: folder });
    },
    files: "src/main/java/org/openapitools/client/api/*.java",
    declare: (id) => ` ${id}(`,
    play: (folder, args) =>
      run("java", ["-cp", `${JARS}/runtime/*:${join(folder, "classes")}`, "Journey", ...args]),
  },
  {
    name: "oapi-codegen for Go",
    tools: ["go_generators"],
    make: async (folder) => {
      cpSync(join(HERE, "go"), folder, { recursive: true });
      mkdirSync(join(folder, "client"));
      generateGo(folder, "client", "client/client.go");
      buildGo(folder, "-o", "journey", ".");
    },
    files: "client/client.go",
    declare: (id) => `) ${toPascal(id)}WithResponse(`,
    play: (folder, args) => run(join(folder, "journey"), args),
  },
];

describe("clients that are generated from the document", () => {
  const server = Promise.withResolvers<readonly [url: string, key: string]>();
  const done = Promise.withResolvers<void>();
  let running: Promise<void>;
  beforeAll(async () => {
    running = withServer(async ({ base_url: url, test_key: key }) => {
      server.resolve([url, key]);
      await done.promise;
    });
    await server.promise;
  });
  afterAll(async () => {
    done.resolve();
    await running;
  });

  for (const { name, tools, make, files, declare, play } of GENERATORS)
    test(`${name} makes every operation, and its client plays what a customer does`, async ({
      skip,
    }) => {
      const absence = tools.map(findToolAbsence).find((one) => one !== null);
      if (absence) skip(absence);
      const args = await server.promise;
      const folder = createFolder();
      const document = await (await fetch(`${args[0]}/openapi.json`)).text();
      writeFileSync(join(folder, "openapi.json"), document);

      await make(folder);

      const made = globSync(join(folder, files));
      const text = made.map((file) => `${file}\n${readFileSync(file, "utf8")}`).join("\n");
      expect(endpoints.map(({ id }) => id).filter((id) => !text.includes(declare(id)))).toEqual([]);
      expect(await play(folder, args)).toContain("played it through");
    });
});
