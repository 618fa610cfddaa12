import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createLambdaWorld } from "@mailproof/functions/lambda-world";
import { expect, test } from "vitest";
import { givenWorld } from "../app/given.ts";
import { send } from "../app/send.ts";
import { CREDENTIALS, createEmulatedAws, DYNAMODB, REGION } from "../aws/emulators.ts";
import { createTable } from "../aws/resources.ts";
import { describeWith } from "../runner/describe-when.ts";
import { endWithTest } from "../runner/eventually.ts";
import { createFolder } from "../servers/running.ts";
import { runAdmin } from "../things/admin.ts";

/** A folder with an `aws` that knows this stage, as AWS's command line would. */
const writeCommandLine = (stage: Readonly<Record<string, string>>): string => {
  const folder = createFolder();
  const answers = {
    "ssm get-parameter --name /mailproof/ada/lambda/HttpMcp": {
      Parameter: { Value: "mailproof-ada-HttpMcp" },
    },
    "lambda get-function-configuration --function-name mailproof-ada-HttpMcp": {
      Environment: { Variables: stage },
    },
    "ssm get-parameter --name /mailproof/ada/url": {
      Parameter: { Value: "https://stage.example" },
    },
    "configure export-credentials --format process": {
      AccessKeyId: CREDENTIALS.accessKeyId,
      SecretAccessKey: CREDENTIALS.secretAccessKey,
    },
  };
  const program = `#!${process.execPath}
const answer = ${JSON.stringify(answers)}[process.argv.slice(2, -2).join(" ")];
if (answer === undefined) process.exit(1);
console.log(JSON.stringify(answer));`;
  writeFileSync(join(folder, "aws"), program, { mode: 0o755 });
  return folder;
};

describeWith(DYNAMODB, "an operator's commands on a deployed stage", () => {
  /** As the configuration of a Lambda has them, and what the operator's own shell has. */
  const givenStage = async () => {
    const aws = await createEmulatedAws();
    const stage = {
      TABLE_NAME: await createTable(aws),
      KEY_PEPPER: "the pepper of this stage",
      CURSOR_SECRET: "the secret of its cursors",
      ACTIVITY_KEY: "the key of its activity",
      SEALING_KEY: "the key of its secrets",
    };
    const shellEnvironment = {
      PATH: `${writeCommandLine(stage)}:${process.env["PATH"]}`,
      AWS_REGION: REGION,
      AWS_ENDPOINT_URL_DYNAMODB: aws.endpoints?.dynamodb ?? "",
    };
    const admin = async (...args: readonly string[]) => {
      const script = ["infra/deploy/admin-on-stage.ts", "--stage", "ada", ...args];
      const child = spawn(process.execPath, script, { env: shellEnvironment });
      endWithTest(child);
      const [out, err] = [text(child.stdout), text(child.stderr)];
      const [code] = (await once(child, "exit")) as [number | null];
      return { code, out: await out, err: await err };
    };
    const credentials = {
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    };
    const environment = { ...shellEnvironment, ...credentials, ...stage };
    return { admin, world: createLambdaWorld(undefined, environment) };
  };

  test("admin commands create the first account, whose key the stage accepts, and audit it", async () => {
    const { admin, world } = await givenStage();

    const made = await admin("accounts", "create", "--name", "First", "--credits", "100");
    const { account_id: account, live_key: key } = JSON.parse(made.out) as Record<string, string>;
    const granted = await admin("credits", "grant", "--account", account ?? "", "--amount", "5");
    const invite = ["people", "invite", "--account", account ?? "", "--role", "owner"] as const;
    const invited = await admin(...invite);
    const audited = await admin("audit");

    const { data } = await send(world, "GET /v1/account", { key: key ?? "" });
    expect(JSON.parse(granted.out)).toEqual({ account_id: account, available: 105 });
    expect(data).toMatchObject({ name: "First", credits: { available: 105 } });
    expect(JSON.parse(invited.out).url).toMatch(/^https:\/\/stage\.example\/app\/link#[\w-]{43}$/);
    expect(audited.code).toBe(0);
    expect(JSON.parse(audited.out)).toEqual({ ok: true, accounts: 1, violations: [], late: [] });
  });

  test("admin commands refuse the table of a newer release before they change anything", async () => {
    const { admin, world } = await givenStage();
    const version = await admin("version");
    await world.table.write({ put: { pk: "STATE", sk: "VERSION", version: 2 } });

    const refused = await admin("accounts", "create", "--name", "First");

    expect(JSON.parse(version.out)).toEqual({ table_version: 1, newest_version: 1 });
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("newer Mailproof") });
  });

  const page = readFileSync("docs/operating.md", "utf8");

  test("each admin command that docs/operating.md lists runs on a stage", async () => {
    const { world } = await givenStage();
    const ran = new Set<string>();
    const run = (line: string): Promise<any> => {
      ran.add(line.replace(/ --.*$/, ""));
      return runAdmin(world, line);
    };

    // The Lambdas of these two requests have more than the table.
    const { queue, blobs, https } = givenWorld().world;
    const whole = { ...world, queue, blobs, https };
    const made = await run("accounts create --name First --credits 100");
    const account = `--account ${made.account_id}`;
    const email = { email: "ann@x.com" };
    await send(whole, "POST /v1/webhooks", {
      key: made.live_key,
      body: { url: "https://example.com/hook", events: ["job.completed"] },
    });
    const sent = await send(whole, "POST /v1/verify/batch", {
      key: made.live_key,
      body: { emails: [email.email] },
    });

    expect(await run("accounts list")).toMatchObject([
      {
        name: "First",
        status: "active",
        available: 99,
        used_30_days: 1,
        last_call_at: expect.any(String),
      },
    ]);
    await run(`accounts rename ${account} --name Second`);
    await run(`accounts plan ${account} --plan pro`);
    expect(await run(`accounts show ${account}`)).toMatchObject({ name: "Second", plan: "pro" });
    const key = await run(
      `keys create ${account} --mode live --expires 1d --networks 192.0.2.0/24`,
    );
    const rotated = await run(`keys rotate ${account} --key ${key.key_id} --overlap 1h`);
    expect(await run(`keys list ${account}`)).toHaveLength(4);
    await run(`keys revoke ${account} --key ${rotated.key_id}`);
    const [webhook] = await run(`webhooks list ${account}`);
    await run(`webhooks enable ${account} --webhook ${webhook.webhook_id}`);
    await run(`credits grant ${account} --amount 5`);
    const { jobs } = await run(`jobs list ${account}`);
    expect(jobs).toMatchObject([{ job_id: sent.data.job_id, status: "processing" }]);
    await run(`jobs cancel --job ${sent.data.job_id}`);
    const { entries } = await run(`credits list ${account}`);
    expect(entries).toHaveLength(4);
    const invited = await run(`people invite ${account} --role owner`);
    const { data: joined } = await send(whole, "POST /v1/sign-in/link", {
      headers: { "sec-fetch-site": "same-origin" },
      body: { token: invited.url.split("#")[1], accept: true, name: "Ann" },
    });
    const person = `--person ${joined.signed_in.person_id}`;
    expect(await run(`people list ${account}`)).toMatchObject([{ name: "Ann", role: "owner" }]);
    expect(await run("people list")).toHaveLength(1);
    await run(`people reset ${person}`);
    await expect(run(`people remove ${person} ${account}`)).rejects.toThrow("needs an owner");
    await run(`activity forget --email ${email.email}`);
    await run("calibration");
    await run("providers");
    expect(await run("audit --full")).toMatchObject({ ok: true });
    await run(`accounts disable ${account}`);
    expect((await send(world, "GET /v1/account", { key: made.live_key })).statusCode).toBe(403);
    await run(`accounts enable ${account}`);
    await run(`accounts close ${account} --yes`);
    await run(`people erase ${person} --yes`);
    expect(await run("people list")).toEqual([]);
    expect((await send(world, "GET /v1/account", { key: made.live_key })).statusCode).toBe(401);

    const [, named = ""] = /Each of these was run on an emulator: ([^.]+)\./.exec(page) ?? [];
    expect(new Set([...named.matchAll(/`([a-z ]+)`/g)].map(([, name]) => name))).toEqual(ran);
  });

  test("an admin command prints a usage fault and exits with 2", async () => {
    const { admin } = await givenStage();

    const { code, err } = await admin("accounts", "create");

    expect(err).toContain("--name is required");
    expect(code).toBe(2);
  });
});
