import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
// The components bring a Pulumi of their own; mocks set on any other would mean nothing to them.
import * as pulumi from "../../.sst/platform/node_modules/@pulumi/pulumi/index.js";

// Runs the real sst.config.ts as `sst deploy` or `sst dev` would, with a Pulumi that only writes down what it is asked to
// make. SST itself is the real one; what its command line does for it over JSON-RPC is done here.

export type Made = {
  readonly type: string;
  readonly name: string;
  // biome-ignore lint: what a resource is made of differs from kind to kind.
  readonly inputs: Record<string, any>;
};
export type Synthesis = {
  readonly app: Record<string, unknown>;
  readonly made: readonly Made[];
  /** Handlers that were bundled. */
  readonly built: readonly string[];
  /** What the command line of a live session has to run, once for each Lambda. */
  readonly targets: readonly Target[];
};

export type Target = Build & { readonly functionID: string; readonly runtime: string };

const root = resolve(import.meta.dirname, "../..");
const work = join(root, ".sst", "mock");
const platform = join(root, ".sst", "platform");

const REGION = "eu-west-1";
const ACCOUNT = "123456789012";

type Build = { readonly handler: string; readonly bundle?: string };

/** SST zips what was bundled for it. A handler that is not in there would not start. */
const findBundle = ({ handler, bundle = "" }: Build) => {
  const file = join(bundle, handler.replace(/\.[^.]+$/, ".mjs"));
  if (!existsSync(file)) throw new Error(`${handler} was not bundled: there is no ${file}`);
  return { handler, out: bundle, errors: [], sourcemaps: [] };
};

const BOOTSTRAPPED = {
  asset: "sst-asset",
  assetEcrRegistryId: ACCOUNT,
  assetEcrUrl: "registry",
  state: "sst-state",
  appsyncHttp: "http",
  appsyncRealtime: "realtime",
};

/** Where a live session and its bridges meet. */
const LIVE = { http: "http.example.com", realtime: "realtime.example.com" };

/** What the SST command line answers its own components. */
const startCommandLine = async () => {
  const built: string[] = [];
  const targets: Target[] = [];
  let inHand = 0;
  const answer = async (request: Readable): Promise<object> => {
    const { method, params } = (await json(request)) as { method: string; params: Target[] };
    const [spec] = params;
    try {
      if (method === "Provider.Aws.Bootstrap") return { result: BOOTSTRAPPED };
      if (method === "Provider.Aws.Appsync") return { result: LIVE };
      if (method === "Runtime.AddTarget" && spec) {
        targets.push(spec);
        return { result: true };
      }
      if (method !== "Runtime.Build" || !spec) throw new Error(`no handler answers ${method}`);
      built.push(spec.handler);
      return { result: findBundle(spec) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  };
  const server = createServer((request, response) => {
    inHand++;
    // A socket that is kept and then closed for idleness may be closed just when SST asks again.
    response.setHeader("connection", "close");
    void answer(request).then((reply) => {
      response.end(JSON.stringify({ id: null, ...reply }));
      inHand--;
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, built, targets, isBusy: () => inHand > 0, server };
};

/** What AWS would have made of it, as far as anything else is built on that. */
const createState = ({ type, name, inputs }: Made) => {
  const service = type.split(":")[1]?.split("/")[0] ?? "";
  return {
    ...inputs,
    name: inputs["name"] ?? name,
    arn: `arn:aws:${service}:${REGION}:${ACCOUNT}:${name}`,
    ...(service === "sqs" && { url: `https://sqs.${REGION}.amazonaws.com/${ACCOUNT}/${name}` }),
    bucket: inputs["bucket"] ?? name,
    bucketRegionalDomainName: `${inputs["bucket"] ?? name}.s3.${REGION}.amazonaws.com`,
    apiEndpoint: "https://api.example.com",
    executionArn: `arn:aws:execute-api:${REGION}:${ACCOUNT}:${name}`,
    invokeArn: `arn:aws:apigateway:${REGION}:lambda:${name}`,
    base64: Buffer.alloc(32).toString("base64"),
    publicIp: "203.0.113.10",
  };
};

// biome-ignore lint: as above.
const answerCall = (token: string, inputs: Record<string, any>) => {
  if (token.endsWith(":getRegion")) return { region: REGION, name: REGION, id: REGION };
  if (token.endsWith(":getPartition")) return { partition: "aws", id: "aws" };
  if (token.endsWith(":getCallerIdentity")) return { accountId: ACCOUNT };
  if (token.endsWith(":getAvailabilityZones"))
    return { names: ["a", "b", "c"].map((zone) => `${REGION}${zone}`) };
  if (token.endsWith(":getPolicyDocument"))
    // As AWS's provider does: of none at all it says nothing.
    return {
      statements: inputs["statements"]?.length ? inputs["statements"] : undefined,
      json: JSON.stringify({ Statement: inputs["statements"] }),
    };
  return inputs;
};

type Config = {
  readonly app: (input: { readonly stage: string }) => Promise<{ name: string; removal: string }>;
  readonly run: () => Promise<unknown>;
};

/** `settings`: what the deployer's environment, or .env.<stage>, says. */
export const synthesise = async (
  stage: string,
  settings: Readonly<Record<string, string>> = {},
  command: "deploy" | "dev" = "deploy",
): Promise<Synthesis> => {
  Object.assign(process.env, settings);
  const { url, built, targets, isBusy, server } = await startCommandLine();
  process.env["SST_SERVER"] = url;
  const made: Made[] = [];
  Object.assign(globalThis, { $config: (config: Config) => config });
  const { default: config } = (await import("../../sst.config.ts")) as { default: Config };
  const app = await config.app({ stage });
  Object.assign(globalThis, {
    $app: { ...app, stage, providers: { aws: { region: REGION } } },
    $dev: command === "dev",
    $cli: {
      command,
      rpc: "",
      paths: { home: work, root, work, platform },
      state: { version: {} },
    },
  });
  await pulumi.runtime.setMocks(
    {
      newResource: (spec) => {
        const one = { type: spec.type, name: spec.name, inputs: spec.inputs };
        made.push(one);
        return { id: `${spec.name}-id`, state: createState(one) };
      },
      call: ({ token, inputs }) => answerCall(token, inputs),
    },
    app.name,
    stage,
    false,
    "organization",
  );
  await introduceGlobals();

  // Nothing of this waits for anything. What is thrown in between would be lost, and with it all that depends on it.
  const thrown: unknown[] = [];
  const onThrown = (error: unknown) => void thrown.push(error);
  process.on("unhandledRejection", onThrown);
  await config.run();
  await waitUntilQuiet(() => made.length + built.length + targets.length, isBusy, thrown);
  process.off("unhandledRejection", onThrown);
  server.close();
  if (thrown.length > 0) throw new AggregateError(thrown, thrown.map(String).join("\n"));
  return { app, made, built, targets };
};

const introduceGlobals = async () => {
  const aws = await import("../../.sst/platform/node_modules/@pulumi/aws/index.js");
  const sst = await import("../../.sst/platform/src/components/index.ts");
  const { $transform, $asset } = await import("../../.sst/platform/src/components/component.ts");
  const { output, all, interpolate, concat, jsonParse, jsonStringify } = pulumi;
  Object.assign(globalThis, {
    sst,
    aws: (aws as { default?: unknown }).default ?? aws,
    $util: pulumi,
    $output: output,
    $resolve: all,
    $interpolate: interpolate,
    $concat: concat,
    $jsonParse: jsonParse,
    $jsonStringify: jsonStringify,
    $transform,
    $asset,
  });
};

// Not in its types, but what Pulumi itself waits with.
const { waitForRPCs } = pulumi.runtime as unknown as {
  waitForRPCs: (disconnect: boolean) => Promise<void>;
};

const ROUND_MS = 100;
const QUIET_ROUNDS = 5;
const ROUNDS_MAX = 600;

/** Until nothing new was asked for in several rounds, and no bundle is still being made. */
const waitUntilQuiet = async (
  count: () => number,
  isBusy: () => boolean,
  thrown: readonly unknown[],
): Promise<void> => {
  let quiet = 0;
  for (let round = 0, before = -1; quiet < QUIET_ROUNDS; round++) {
    if (round > ROUNDS_MAX) throw new Error("the synthesis does not come to an end");
    if (thrown.length > 0) return;
    await Promise.race([waitForRPCs(false), setTimeout(500)]);
    await setTimeout(ROUND_MS);
    quiet = !isBusy() && count() === before ? quiet + 1 : 0;
    before = count();
  }
};
