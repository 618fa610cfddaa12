import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lambdas } from "../../infra/topology.ts";
import { listEntries } from "../../packages/functions/entries.ts";
import { createRole } from "../app/rights.ts";
import { createExchanges, findOwnQueue, summarize } from "../third-party/exchanges.ts";
import { startInstance } from "../third-party/instance.ts";
import { createStage, type Stage } from "../third-party/stage.ts";

// Every handler as a live session has it: bundled as SST bundles. One of each kind runs in the runtime that SST ships for that;
// test/third-party/runtime-client.test.ts runs all of them, in AWS's.

const RUNTIME = resolve(".sst/platform/dist/nodejs-runtime/index.js");

/** The options of `sst dev` in SST 4.17 (pkg/runtime/node/build.go), which are not to be had from its packages. */
const OPTIONS = {
  bundle: true,
  platform: "node",
  format: "esm",
  target: "esnext",
  mainFields: ["module", "main"],
  external: ["sharp", "pg-native"],
  keepNames: true,
  sourcemap: "linked",
  banner: {
    js: [
      'import { createRequire as topLevelCreateRequire } from "module";',
      "const require = topLevelCreateRequire(import.meta.url);",
      'import { fileURLToPath as topLevelFileUrlToPath, URL as topLevelURL } from "url";',
      "const __filename = topLevelFileUrlToPath(import.meta.url);",
      'const __dirname = topLevelFileUrlToPath(new topLevelURL(".", import.meta.url));',
    ].join("\n"),
  },
} as const;

const folder = mkdtempSync(join(tmpdir(), "mailproof-live-"));
let stage: Stage;

beforeAll(async () => {
  listEntries("http", "workers");
  await build({
    ...OPTIONS,
    external: [...OPTIONS.external],
    mainFields: [...OPTIONS.mainFields],
    entryPoints: lambdas.map(({ name, handler }) => {
      const file = handler.replace(/\.handler$/, "");
      return { in: `${file}.ts`, out: `${name}/${file}` };
    }),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
  });
  // SST links them beside each bundle.
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  stage = await createStage();
});
afterAll(() => rmSync(folder, { recursive: true }));

const getLambda = (name: string) => {
  const found = lambdas.find((one) => one.name === name);
  if (!found) throw new Error(`There is no Lambda ${name}.`);
  return found;
};

const IMPORT = `
for (const [name, file] of JSON.parse(process.argv[1])) {
  const { handler } = await import(file);
  if (typeof handler !== "function") throw new Error(name + " has no handler");
}
process.exit(0);
`;

test("every Lambda's bundle contains its handler", () => {
  const files = lambdas.map(({ name, handler }) => [
    name,
    join(folder, name, handler.replace(/\.handler$/, ".mjs")),
  ]);
  const args = ["--input-type=module", "--eval", IMPORT, JSON.stringify(files)];
  const env = stage.buildEnvironment(getLambda("HttpMcp"), "http://127.0.0.1:1");

  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });

  expect({ status, stderr }).toMatchObject({ status: 0 });
});

const OF_EACH_KIND = [
  "HttpVerifyEmail",
  "HttpMcp",
  "HttpDefault",
  "Prober",
  "UploadLimit",
  "WorkerChunks",
  "WorkerChunksDead",
  "ScheduleReconcile",
].map(getLambda);

test.concurrent.each(OF_EACH_KIND)(
  "the Lambda $name answers in SST's live runtime",
  async (lambda) => {
    const proxy = await stage.openProxy(createRole(lambda, findOwnQueue(lambda)));
    const instance = await startInstance({
      args: ["--enable-source-maps", RUNTIME, join(folder, lambda.name, lambda.handler), "worker"],
      cwd: join(folder, lambda.name),
      environment: {
        ...stage.buildEnvironment(lambda, proxy.url),
        SST_LIVE: "true",
        SST_DEV: "true",
      },
    });
    try {
      const { event, answer } = createExchanges(lambda, stage).first;
      const outcome = await instance.invoke(event, lambda.timeoutSeconds * 1000);
      expect(summarize(outcome), `${JSON.stringify(outcome)}\n${instance.getLog()}`).toMatch(
        answer,
      );
      expect(proxy.refused).toEqual([]);
    } finally {
      await instance.stop();
      proxy.close();
    }
  },
);
