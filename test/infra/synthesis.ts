import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import * as pulumi from "@pulumi/pulumi";
import type { Build, Made, Request, Synthesis, Target } from "./synthesise.ts";

// One stage: the real sst.config.ts runs with a Pulumi that only writes down what it is asked to make. SST itself is the real
// one; what its command line does for it over JSON-RPC is done here. synthesiser.ts evaluates this module, with all of SST and
// infra in it, once for each stage.

const root = process.cwd();
const work = join(root, ".sst", "mock");
const platform = join(root, ".sst", "platform");

const REGION = process.env["AWS_REGION"] ?? "";
const ACCOUNT = "123456789012";

/** SST zips what was bundled for it. A handler that is not in there would not start. SST zips nothing of it here: no test reads it. */
const findBundle = ({ handler, bundle = "" }: Build, { bundles, empty }: Request) => {
  const path = join(bundle, handler.replace(/\.[^.]+$/, ".mjs"));
  if (bundles && !existsSync(path))
    throw new Error(`${handler} was not bundled: there is no ${path}`);
  return { handler, out: empty, errors: [], sourcemaps: [] };
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
const startCommandLine = async (request: Request) => {
  const built: string[] = [];
  const targets: Target[] = [];
  const answer = async (asked: Readable): Promise<object> => {
    const { method, params } = (await json(asked)) as { method: string; params: Target[] };
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
      return { result: findBundle(spec, request) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  };
  const server = createServer((incoming, response) => {
    // A socket that is kept and then closed for idleness may be closed just when SST asks again.
    response.setHeader("connection", "close");
    void answer(incoming).then((reply) => response.end(JSON.stringify({ id: null, ...reply })));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  // Whoever asks keeps the process, and not the one who could be asked.
  server.unref();
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, built, targets, close: () => void server.close() };
};

/** What AWS would have made of it, as far as anything else is built on that. */
const createState = ({ type, name, inputs }: Omit<Made, "tags">) => {
  const service = type.split(":")[1]?.split("/")[0] ?? "";
  return {
    ...inputs,
    name: inputs["name"] ?? name,
    arn: type.endsWith(":Alias")
      ? `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}:${inputs["name"]}`
      : `arn:aws:${service}:${REGION}:${ACCOUNT}:${name}`,
    ...(service === "sqs" && { url: `https://sqs.${REGION}.amazonaws.com/${ACCOUNT}/${name}` }),
    bucket: inputs["bucket"] ?? name,
    bucketRegionalDomainName: `${inputs["bucket"] ?? name}.s3.${REGION}.amazonaws.com`,
    apiEndpoint: "https://api.example.com",
    executionArn: `arn:aws:execute-api:${REGION}:${ACCOUNT}:${name}`,
    version: "1",
    invokeArn: `arn:aws:apigateway:${REGION}:lambda:${name}`,
    base64: Buffer.alloc(32).toString("base64"),
    publicIp: "203.0.113.10",
    domainValidationOptions: [
      {
        domainName: inputs["domainName"],
        resourceRecordName: "_proof",
        resourceRecordType: "CNAME",
        resourceRecordValue: "_of-aws",
      },
    ],
    privateIp: "10.0.0.5",
    // Of a password.
    result: "drawn",
  };
};

/** The parameters that an earlier deployment stored: only the quota is read. */
const readStored = (name: string) => {
  const { STORED_QUOTA: value } = process.env;
  if (!name.endsWith("/quota") || !value) throw new Error(`ParameterNotFound: ${name}`);
  return { value };
};

// biome-ignore lint: what is asked differs from call to call.
const answerCall = (token: string, inputs: Record<string, any>) => {
  if (token.endsWith(":getParameter")) return readStored(String(inputs["name"]));
  if (token.endsWith(":getRegion")) return { region: REGION, name: REGION, id: REGION };
  if (token.endsWith(":getPartition")) return { partition: "aws", id: "aws" };
  if (token.endsWith(":getCallerIdentity")) return { accountId: ACCOUNT };
  if (token.endsWith(":getAvailabilityZones"))
    return { names: ["a", "b", "c"].map((zone) => `${REGION}${zone}`) };
  // Of a VPC that exists.
  if (token.endsWith(":getInternetGateway")) return { internetGatewayId: "one-of-it" };
  if (token.endsWith(":getRouteTable")) return { routeTableId: "one-of-it" };
  if (/:get(?:Eips|Instances|NatGateways|SecurityGroups|Subnets)$/.test(token))
    return { ids: ["one-of-it", "another-of-it"] };
  if (token.endsWith(":getZone"))
    return { zoneId: "Z1", name: "example.com", linkedServiceDescription: "of :namespace/ns-1" };
  if (token.endsWith(":getPolicyDocument"))
    // As AWS's provider does: of none at all it says nothing.
    return {
      statements: inputs["statements"]?.length ? inputs["statements"] : undefined,
      json: JSON.stringify({ Statement: inputs["statements"] }),
    };
  return inputs;
};

/** SST knows a VPC of its own making by its tags. */
const readState = (one: Omit<Made, "tags">, id: string) => ({
  ...createState(one),
  name: id,
  allocationId: "one-of-it",
  tagsAll: { "sst:component-version": "2", "sst:ref-version": "2" },
});

const DEFAULT_TAGS = "aws:defaultTags";

/** AWS's provider adds its default tags to each resource of a type that has tags. */
const readTags = ({ type, inputs }: Omit<Made, "tags">, provider: Made | undefined) => {
  const [, path = ""] = /^aws:(\w+\/\w+):/.exec(type) ?? [];
  const source = join(platform, `node_modules/@pulumi/aws/${path}.js`);
  if (path === "" || !readFileSync(source, "utf8").includes("tagsAll")) return null;
  const given = provider?.inputs["defaultTags"] ?? pulumi.runtime.allConfig()[DEFAULT_TAGS];
  return { ...JSON.parse(given ?? "{}").tags, ...inputs["tags"] };
};

type App = {
  readonly name: string;
  readonly removal: string;
  readonly providers: { readonly aws: { readonly defaultTags: object } };
};
type Config = {
  readonly app: (input: { readonly stage: string }) => Promise<App>;
  readonly run: () => Promise<unknown>;
};

const introduceGlobals = async () => {
  const aws = await import("@pulumi/aws");
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

/** What the stage is made of, to be called when nothing is left to do. */
export const synthesise = async (request: Request): Promise<() => Synthesis> => {
  const { stage, command } = request;
  const { url, built, targets, close } = await startCommandLine(request);
  process.env["SST_SERVER"] = url;
  const made: Made[] = [];
  Object.assign(globalThis, { $config: (config: Config) => config });
  const { default: config } = (await import("../../sst.config.ts")) as unknown as {
    default: Config;
  };
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
  // SST passes the provider's options to Pulumi as configuration.
  pulumi.runtime.setConfig(DEFAULT_TAGS, JSON.stringify(app.providers.aws.defaultTags));
  await pulumi.runtime.setMocks(
    {
      newResource: (spec) => {
        const one = { type: spec.type, name: spec.name, inputs: spec.inputs };
        // What has an id exists already, and is only read.
        if (spec.id) return { id: spec.id, state: readState(one, spec.id) };
        const provider = made.find(({ type, name }) => spec.provider?.includes(`${type}::${name}`));
        made.push({ ...one, tags: readTags(one, provider) });
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
  // This waits for a part of what it asks for.
  await pulumi.runtime.runInPulumiStack(config.run);
  return () => {
    close();
    return { app, made, built, targets };
  };
};
