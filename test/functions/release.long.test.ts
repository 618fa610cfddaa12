import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { endpoints } from "@mailproof/api/endpoints";
import { lambda } from "@mailproof/functions/lambda";
import { singleChunk } from "@mailproof/functions/single-chunk";
import { afterAll, expect, test } from "vitest";
import type { Programs } from "../../infra/deploy/programs.ts";
import { moveCallers } from "../../infra/deploy/release.ts";
import { released, routes } from "../../infra/topology.ts";
import { whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { createContext } from "../aws/events.ts";

// A release against an AWS that keeps aliases, with the real endpoints behind it and the real smoke test.

/** A world in memory, with a server for the links to which files are uploaded. */
const givenStage = async () => {
  const ctx = await given({ balance: 100 });
  const { blobs, world: inMemory } = ctx;
  const server = createServer((incoming, response) => {
    void buffer(incoming)
      .then((bytes) =>
        blobs.put(decodeURIComponent(incoming.url ?? "").slice(1), singleChunk(bytes)),
      )
      .then(() => response.end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  servers.push(server);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const world = {
    ...inMemory,
    blobs: {
      ...blobs,
      presignPut: async (key: string) => ({
        url: `${url}/${encodeURIComponent(key)}`,
        expiresInSeconds: 60,
      }),
    },
  };
  return { ...ctx, world };
};
const servers: ReturnType<typeof createServer>[] = [];
afterAll(() => servers.forEach((server) => server.close()));

type Stage = Awaited<ReturnType<typeof givenStage>>;
type Endpoint = (typeof endpoints)[number];
type Alias = { version: string; weights: string };

const INVOCATION = /^--function-name (\S+) --qualifier (\S+) --payload fileb:\/\/(\S+) (\S+)$/;
const nameOf = (name: string) => `mailproof-production-${name}`;

/** `plant`: what is wrong with an endpoint of the new version. */
const openAws = (
  { world, queue }: Stage,
  plant: (endpoint: Endpoint) => Endpoint,
  rings: (alias: Alias) => readonly string[] = () => [],
) => {
  const aliases = new Map(
    released.map(({ name }): [string, Alias] => [nameOf(name), { version: "1", weights: "" }]),
  );
  const history: string[] = [];
  const said: string[] = [];
  const first = nameOf("HttpDownloadJob");
  const readAlias = (name: string): Alias => aliases.get(name) ?? { version: "", weights: "" };

  const invoke = async (options: string) => {
    const [, name, version = "", sent = "", answered = ""] = INVOCATION.exec(options) ?? [];
    const found = routes.find((one) => nameOf(one.lambda.name) === name);
    const endpoint = endpoints.find(({ route }) => route === found?.route);
    if (!endpoint || version !== "2") throw new Error(`${name} has no version ${version}`);
    const event = JSON.parse(readFileSync(sent, "utf8"));
    const answer = await lambda(plant(endpoint), world)(event, createContext());
    await whenWorked({ world, queue });
    writeFileSync(answered, JSON.stringify(answer));
    return {};
  };
  const update = (options: string) => {
    const [, name = "", version, weights = ""] =
      /^--function-name (\S+) --name live --function-version (\d+) --routing-config AdditionalVersionWeights=\{(.*)\}$/.exec(
        options,
      ) ?? [];
    if (version === undefined) throw new Error(`AWS does not know ${options}`);
    aliases.set(name, { version, weights });
    if (name === first) history.push(`${version} ${weights}`.trim());
    return {};
  };
  const answers: Readonly<Record<string, (options: string) => unknown>> = {
    "ssm get-parameters-by-path": () => ({
      Parameters: released.map(({ name }) => ({
        Name: `/mailproof/production/lambda/${name}`,
        Value: nameOf(name),
      })),
    }),
    "ssm get-parameter": () => ({
      Parameter: {
        Value: JSON.stringify(Object.fromEntries(released.map(({ name }) => [name, "2"]))),
      },
    }),
    "lambda get-alias": (options) => ({
      FunctionVersion: readAlias(/^--function-name (\S+)/.exec(options)?.[1] ?? "").version,
    }),
    "lambda update-alias": update,
    "lambda invoke": invoke,
    "cloudwatch describe-alarms": () => ({
      MetricAlarms: rings(readAlias(first)).map((name) => ({ AlarmName: name })),
    }),
  };
  const programs: Programs = {
    aws: async (command) => {
      const [, operation = "", options = ""] = /^(\S+ \S+) ?(.*)$/.exec(command) ?? [];
      const answer = answers[operation];
      if (!answer) throw new Error(`AWS does not know ${operation}`);
      return answer(options);
    },
    sleep: async () => undefined,
    say: (line) => void said.push(line),
    run: () => Promise.reject(new Error("no program is run")),
    read: () => Promise.reject(new Error("no program is run")),
    agree: async () => false,
  };
  return { programs, aliases, history, said };
};

const smoke = (key: string) => async (url: string) => {
  const env = { ...process.env, MAILPROOF_KEY: key };
  await promisify(execFile)(process.execPath, ["scripts/smoke.ts", url], { env }).catch(
    ({ stdout }: { readonly stdout: string }) => {
      throw new Error(stdout.trim().split("\n").at(-1));
    },
  );
};

const release = async (
  stage: Stage,
  aws: ReturnType<typeof openAws>,
  isAtOnce = false,
): Promise<string> =>
  moveCallers({
    stage: "production",
    isAtOnce,
    programs: aws.programs,
    smoke: smoke(stage.testKey),
  }).then(
    () => "released",
    (error: Error) => error.message,
  );

const asItIs = (endpoint: Endpoint): Endpoint => endpoint;
const withoutDownload = (endpoint: Endpoint): Endpoint =>
  endpoint.id === "downloadJob"
    ? { ...endpoint, handle: () => Promise.reject(new Error("planted")) }
    : endpoint;

test("a release stops before any caller uses it when its download answers 500", async () => {
  const stage = await givenStage();
  const aws = openAws(stage, withoutDownload);

  expect(await release(stage, aws)).toMatch(
    /the download is 500.*All callers have the version before/,
  );
  expect(aws.history).toEqual(["1"]);
  expect(
    new Set([...aws.aliases.values()].map(({ version, weights }) => version + weights)),
  ).toEqual(new Set(["1"]));
});

test("a healthy release receives 10%, then 50%, then all calls", async () => {
  const stage = await givenStage();
  const aws = openAws(stage, asItIs, () => ["mailproof-production-Audit"]);

  expect(await release(stage, aws)).toBe("released");
  expect(aws.history).toEqual(["1 2=0.1", "1 2=0.5", "2"]);
  expect(await release(stage, aws)).toBe("released");
  expect(aws.said.at(-1)).toBe("Callers have the latest version of every Lambda.");
});

test("a release returns every caller to the version before when an alarm begins to ring", async () => {
  const stage = await givenStage();
  const aws = openAws(stage, asItIs, ({ weights }) =>
    weights === "2=0.5" ? ["mailproof-production-Api5xx"] : [],
  );

  expect(await release(stage, aws)).toMatch(
    /^mailproof-production-Api5xx rings\. All callers have/,
  );
  expect(aws.history).toEqual(["1 2=0.1", "1 2=0.5", "1"]);
});

test("a release with --at-once gives all callers the new version without a test", async () => {
  const stage = await givenStage();
  const aws = openAws(stage, withoutDownload);

  expect(await release(stage, aws, true)).toBe("released");
  expect(aws.history).toEqual(["2"]);
});
