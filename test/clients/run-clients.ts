import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createJudge } from "../api/judge.ts";
import { withServer } from "../servers/npm-start.ts";
import { type Doing, playScenario } from "./scenario.ts";

// Three clients are generated from /openapi.json of a server, and each plays the same scenario. Every answer is held
// against the document by Ajv. It needs what npm install --prefix test/clients brings.

const HERE = import.meta.dirname;
const GENERATED = join(HERE, "generated");
const bin = (name: string) => join(HERE, "node_modules/.bin", name);

const generate = async (baseUrl: string): Promise<any> => {
  rmSync(GENERATED, { recursive: true, force: true });
  mkdirSync(GENERATED);
  const text = await (await fetch(`${baseUrl}/openapi.json`)).text();
  const file = join(GENERATED, "openapi.json");
  writeFileSync(file, text);
  // Not synchronous: the connection to the server closes meanwhile, and fetch must notice it.
  const run = async (program: string, ...args: string[]) => {
    const child = spawn(bin(program), args, { cwd: HERE, stdio: ["ignore", "inherit", "inherit"] });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`${program} ended with ${code}`);
  };
  await run("openapi-typescript", file, "-o", join(GENERATED, "openapi-typescript.d.ts"));
  const orval = ["--input", file, "--output", join(GENERATED, "orval.ts"), "--client", "fetch"];
  await run("orval", ...orval);
  await run("openapi-ts", "-f", join(HERE, "hey-api.config.ts"));
  await run("tsc", "-p", join(HERE, "tsconfig.json"));
  return JSON.parse(text);
};

/** Every answer goes past the judge, whichever client asked for it. */
const judged = (document: any, baseUrl: string) => {
  const judge = createJudge(document);
  const faults: string[] = [];
  let answers = 0;
  const fetched = globalThis.fetch;
  const patterns = Object.keys(document.paths).map((path) => ({
    path,
    is: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }));
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const answer = await fetched(request);
    const { pathname } = new URL(request.url);
    // The more exact of two comes first, as in the router.
    const found = patterns.filter(({ is }) => is.test(pathname)).toSorted(byBraces)[0];
    if (found && request.url.startsWith(baseUrl)) {
      answers++;
      const { status } = answer;
      const headers = Object.fromEntries(answer.headers);
      const text = await answer.clone().text();
      for (const fault of judge(request.method, found.path, { status, headers, text }))
        faults.push(`${request.method} ${pathname}: ${fault}`);
    }
    return answer;
  };
  return { faults, answers: () => answers };
};

const byBraces = (a: { path: string }, b: { path: string }): number =>
  a.path.split("{").length - b.path.split("{").length;

await withServer(async ({ base_url: baseUrl, test_key: key }) => {
  const document = await generate(baseUrl);
  const { faults, answers } = judged(document, baseUrl);
  // The first run makes the modules that it imports.
  const { withHeyApi, withOpenapiFetch, withSwaggerClient } = await import("./with-clients.ts");
  const clients: Record<string, () => Doing | Promise<Doing>> = {
    "openapi-typescript + openapi-fetch": () => withOpenapiFetch(baseUrl, key),
    "@hey-api/openapi-ts": () => withHeyApi(baseUrl, key),
    "swagger-client": () => withSwaggerClient(baseUrl, key),
  };
  for (const [name, make] of Object.entries(clients)) {
    const before = answers();
    await playScenario(await make());
    process.stdout.write(`${name}: played it through, ${answers() - before} answers\n`);
  }
  process.stdout.write(
    `${answers()} answers, ${faults.length} otherwise than documented\n${faults.join("\n")}`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
});
