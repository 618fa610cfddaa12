import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { programEndpoints } from "@mailproof/api/endpoints";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withServer } from "../servers/npm-start.ts";
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

const PYTHON_TOOLS = join(getToolFolder("python_generators"), "bin");
const PYTHON = join(PYTHON_TOOLS, "python");

/** Compiles with the modules that were fetched with the generator, and needs no network. */
const buildGo = (folder: string, program: string) =>
  run("go", ["build", "-o", "journey", program], {
    cwd: folder,
    env: {
      GOMODCACHE: join(getToolFolder("go_generators"), "modules"),
      GOFLAGS: "-mod=mod",
      GOPROXY: "off",
      CGO_ENABLED: "0",
    },
  });

const GENERATORS: readonly Generator[] = [
  {
    name: "openapi-python-client",
    tools: ["python_generators"],
    make: async (folder) => {
      const options = ["generate", "--path", "openapi.json", "--output-path", ".", "--overwrite"];
      // It formats with ruff, which it looks for on the path.
      const env = { PATH: `${PYTHON_TOOLS}${delimiter}${process.env["PATH"]}` };
      await run(PYTHON, ["-m", "openapi_python_client", ...options], { cwd: folder, env });
    },
    files: "mailproof_client/api/*/*.py",
    declare: (id) => `/${toSnake(id)}.py`,
    play: (folder, args) =>
      run(PYTHON, [join(HERE, "python/with_openapi_python_client.py"), ...args], {
        env: { PYTHONPATH: folder },
      }),
  },
  {
    name: "openapi-generator for Go",
    tools: ["java_generators", "go_generators"],
    make: async (folder) => {
      const jars = join(getToolFolder("java_generators"), "provided/*");
      const program = "org.openapitools.codegen.OpenAPIGenerator";
      const options = ["generate", "-g", "go", "-i", "openapi.json", "-o", "openapi"];
      await run("java", ["-cp", jars, program, ...options], { cwd: folder });
      rmSync(join(folder, "openapi/go.mod"));
      rmSync(join(folder, "openapi/test"), { recursive: true });
      cpSync(join(HERE, "go"), folder, { recursive: true });
      await buildGo(folder, "./with-openapi-generator");
    },
    files: "openapi/api_*.go",
    declare: (id) => `) ${toPascal(id)}(ctx context.Context`,
    play: (folder, args) => run(join(folder, "journey"), args),
  },
  {
    name: "oapi-codegen for Go",
    tools: ["go_generators"],
    make: async (folder) => {
      cpSync(join(HERE, "go"), folder, { recursive: true });
      mkdirSync(join(folder, "client"));
      // Without skip-prune it leaves out the schemas that only webhooks refer to, and its own code does not compile.
      const options = ["-generate", "types,client,skip-prune", "-package", "client"];
      const codegen = join(getToolFolder("go_generators"), "oapi-codegen");
      await run(codegen, [...options, "-o", "client/client.go", "openapi.json"], { cwd: folder });
      await buildGo(folder, ".");
    },
    files: "client/client.go",
    declare: (id) => `) ${toPascal(id)}WithResponse(`,
    play: (folder, args) => run(join(folder, "journey"), args),
  },
];

describe("clients generated from the OpenAPI document", () => {
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
    test(`${name} generates every operation, and its client completes a customer's journey`, async ({
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
      expect(
        programEndpoints.map(({ id }) => id).filter((id) => !text.includes(declare(id))),
      ).toEqual([]);
      expect(await play(folder, args)).toContain("played it through");
    });
});
