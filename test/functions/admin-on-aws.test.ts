import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { createLambdaWorld } from "@mailproof/functions/lambda-world";
import { expect, onTestFinished, test } from "vitest";
import { CREDENTIALS, createEmulatedAws, DYNAMODB, REGION } from "../aws/emulators.ts";
import { createTable } from "../aws/resources.ts";
import { describeWith } from "../describe-when.ts";
import { send } from "../send.ts";

describeWith(DYNAMODB, "an operator's commands on a deployed stage", () => {
  /** As the configuration of a Lambda has them, and what the operator's own shell has. */
  const givenStage = async () => {
    const aws = await createEmulatedAws();
    const stage = {
      TABLE_NAME: await createTable(aws),
      KEY_PEPPER: "the pepper of this stage",
      CURSOR_SECRET: "the secret of its cursors",
      ACTIVITY_KEY: "the key of its activity",
      SEALING_KEY: "what seals its secrets",
    };
    const shellEnvironment = {
      PATH: process.env["PATH"] ?? "",
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: aws.endpoints?.dynamodb ?? "",
    };
    const admin = async (...args: readonly string[]) => {
      const child = spawn(process.execPath, ["scripts/admin-on-aws.ts", ...args], {
        env: shellEnvironment,
        stdio: ["pipe", "pipe", "pipe"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      child.stdin.end(JSON.stringify(stage));
      const [out, err] = [text(child.stdout), text(child.stderr)];
      const [code] = (await once(child, "exit")) as [number | null];
      return { code, out: await out, err: await err };
    };
    return { admin, world: createLambdaWorld(undefined, { ...shellEnvironment, ...stage }) };
  };

  test("make the first account, whose key the stage knows, and audit what it has", async () => {
    const { admin, world } = await givenStage();

    const made = await admin("accounts", "create", "--name", "First", "--credits", "100");
    const { account_id: account, live_key: key } = JSON.parse(made.out) as Record<string, string>;
    const granted = await admin("credits", "grant", "--account", account ?? "", "--amount", "5");
    const audited = await admin("audit");

    const { data } = await send(world, "GET /v1/account", { key: key ?? "" });
    expect(JSON.parse(granted.out)).toEqual({ account_id: account, available: 105 });
    expect(data).toMatchObject({ name: "First", credits: { available: 105 } });
    expect(audited.code).toBe(0);
    expect(JSON.parse(audited.out)).toEqual({ ok: true, accounts: 1, violations: [], late: [] });
  });

  test("say what is wrong, and end with 2", async () => {
    const { admin } = await givenStage();

    const { code, err } = await admin("accounts", "create");

    expect(err).toContain("--name is required");
    expect(code).toBe(2);
  });
});
