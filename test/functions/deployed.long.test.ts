import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { CHUNKS_QUEUE } from "@mailproof/core/rows/chunk-messages";
import { createDynamoTable } from "@mailproof/functions/aws/dynamo-table";
import { getQueueSetting } from "@mailproof/functions/settings";
import { singleChunk } from "@mailproof/functions/single-chunk";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toEvent, type WireRequest } from "../../infra/gateway-event.ts";
import { BUNDLE } from "../../packages/functions/bundle.ts";
import { listEntries } from "../../packages/functions/entries.ts";
import { givenWorld } from "../app/given.ts";
import { CREDENTIALS, createEmulatedAws, DYNAMODB, REGION } from "../aws/emulators.ts";
import { cancelWith, injectFaults, refuseWith } from "../aws/faults.ts";
import { createBucket, createQueues, createTable } from "../aws/resources.ts";
import { createSqsReceiving } from "../aws/sqs-receiving.ts";
import { describeWith } from "../runner/describe-when.ts";

// A Lambda as it is deployed: its bundle, in its own process, configured by its environment alone.

const LAMBDAS = ["get-account", "get-health", "mcp", "verify-batch"];

describeWith(DYNAMODB, "a deployed Lambda", () => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-deployed-"));
  beforeAll(async () => {
    await build({
      ...BUNDLE,
      entryPoints: listEntries("http").filter((file) => LAMBDAS.includes(basename(file, ".ts"))),
      entryNames: "[name]",
      outdir: folder,
      outExtension: { ".js": ".mjs" },
    });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const given = async () => {
    const aws = await createEmulatedAws();
    const [table, bucket] = [await createTable(aws), await createBucket(aws)];
    const urls = await createQueues(aws, [CHUNKS_QUEUE]);
    const { world } = givenWorld();
    const here = { ...world, table: createDynamoTable(aws, table), now: () => new Date() };
    const opening = { name: "Ann's Shop", plan: "pro" as const, opening: credits(10) };
    const { liveKey } = await openAccount(here, opening);
    const env = {
      KEY_PEPPER: world.settings.keyPepper,
      CURSOR_SECRET: world.settings.cursorSecret,
      ACTIVITY_KEY: world.settings.activityKey,
      SEALING_KEY: world.settings.encryptionKey,
      TABLE_NAME: table,
      BUCKET_NAME: bucket,
      ...Object.fromEntries(
        Object.entries(urls).map(([name, url]) => [getQueueSetting(name), url]),
      ),
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      ...Object.fromEntries(
        Object.entries(aws.endpoints).map(([service, url]) => [
          `AWS_ENDPOINT_URL_${service.toUpperCase()}`,
          url,
        ]),
      ),
    };
    const call = async (lambda: string, sent: WireRequest) => {
      const script = `
        const { handler } = await import(${JSON.stringify(join(folder, `${lambda}.mjs`))});
        const answer = await handler(${JSON.stringify(toEvent(sent))}, {});
        console.log("\\nANSWER " + JSON.stringify(answer));
        process.exit(0);`;
      const args = ["--input-type=module", "--eval", script];
      const { stdout } = await promisify(execFile)(process.execPath, args, { env });
      const answer = JSON.parse(
        /^ANSWER (.*)$/m.exec(stdout)?.[1] ?? "{}",
      ) as APIGatewayProxyStructuredResultV2;
      // What answers a message of MCP is one event.
      const body = (answer.body ?? "{}").replace(/^event: message\ndata: /, "");
      return { status: answer.statusCode, body: JSON.parse(body) };
    };
    const key = ["x-api-key", liveKey] as const;
    return { call, key, receiving: createSqsReceiving(aws, async () => urls) };
  };

  test("the deployed Lambda finds the account of a key", async () => {
    const { call, key } = await given();

    const { status, body } = await call("get-account", {
      method: "GET",
      url: "/v1/account",
      headers: [key],
    });

    expect([status, body.data.name]).toEqual([200, "Ann's Shop"]);
  });

  test("the deployed Lambda reports all of its dependencies as healthy", async () => {
    const { call } = await given();

    const { status, body } = await call("get-health", { method: "GET", url: "/health" });

    expect(body.checks).toEqual({
      table: "ok",
      queue: "ok",
      blobs: "ok",
      dns: "ok",
      mail_providers: "ok",
    });
    expect(status).toBe(200);
  });

  test("the deployed Lambda answers a tool call", async () => {
    const { call, key } = await given();
    const params = { name: "get_account", arguments: {} };

    const { status, body } = await call("mcp", {
      method: "POST",
      url: "/mcp",
      headers: [
        key,
        ["content-type", "application/json"],
        ["accept", "application/json, text/event-stream"],
      ],
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });

    expect([status, body.result.structuredContent.name]).toEqual([200, "Ann's Shop"]);
  });

  // The bundler drops what no port reads (packages/functions/bundle.ts): the classes of most errors among it.
  test("the deployed Lambda's ports recognize refusals, throttling and absence at AWS", async () => {
    await build({
      ...BUNDLE,
      entryPoints: ["dynamo-table", "s3-blobs"].map(
        (name) => `packages/functions/src/aws/${name}.ts`,
      ),
      entryNames: "[name]",
      outdir: folder,
      outExtension: { ".js": ".mjs" },
    });
    const { createDynamoTable: open } = (await import(
      join(folder, "dynamo-table.mjs")
    )) as typeof import("@mailproof/functions/aws/dynamo-table");
    const { createS3Blobs: openBlobs } = (await import(
      join(folder, "s3-blobs.mjs")
    )) as typeof import("@mailproof/functions/aws/s3-blobs");
    const busy = [refuseWith("ThrottlingException"), cancelWith("TransactionConflict")];
    const aws = await createEmulatedAws({ between: injectFaults("TransactWriteItems", busy) });
    const [table, blobs] = [
      open(aws, await createTable(aws)),
      openBlobs(aws, await createBucket(aws)),
    ];
    const claim = { create: { pk: "P", sk: "claim", expires_at: 2_000_000_000 } };
    const old = { pk: "P", sk: "old", n: 5, expires_at: 1 };
    await table.write({ put: old });

    expect(await table.transact([claim])).toEqual({ outcome: "committed" });
    expect(await table.write(claim)).toEqual({ outcome: "refused", refusedWrite: claim });
    expect(await table.transact([{ put: { pk: "P", sk: "b" } }, claim])).toEqual({
      outcome: "refused",
      refusedWrite: claim,
    });
    const { pk, sk } = old;
    expect(await table.write({ update: old, add: { n: 1 }, orCreate: true })).toEqual({
      outcome: "committed",
      item: { pk, sk, n: 1 },
    });
    expect(await blobs.get("inputs/job_1")).toBeUndefined();
    await blobs.put("inputs/job_1", singleChunk(Buffer.from("12345")));
    await expect(blobs.get("inputs/job_1", { range: { from: 9, to: 9 } })).rejects.toThrow("of 5");
  });

  test("the deployed Lambda accepts a batch, and stores, keeps and queues its paid rows", async () => {
    const { call, key, receiving } = await given();

    const { status, body } = await call("verify-batch", {
      method: "POST",
      url: "/v1/verify/batch",
      headers: [key, ["content-type", "application/json"]],
      body: JSON.stringify({ emails: ["ann@x.com", "bo@x.com"] }),
    });

    expect([status, body.data.credits_used]).toEqual([202, 2]);
    const messages = await receiving.receive(CHUNKS_QUEUE, { waitMs: 0 });
    expect(messages).toMatchObject([{ body: { job: body.data.job_id } }]);
  });
});
