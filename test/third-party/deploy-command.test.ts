import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEmulatedAws } from "../aws/emulators.ts";
import { createTable } from "../aws/resources.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { createFolder } from "../servers/running.ts";
import { findToolAbsence } from "./tools.ts";

// `npm run deploy` and `npm run admin` with AWS's own command line, and an AWS account that moto plays. What SST does is left to
// test/infra: its engine comes from no package registry. moto knows neither GetAccountSettings of Lambda nor the alarms of the
// monitoring stack.

const run = promisify(execFile);

const findAbsence = async (): Promise<string | null> => {
  const absence = findToolAbsence("python");
  if (absence !== null) return absence;
  return run("aws", ["--version"]).then(
    () => null,
    () => "AWS's command line (awscli) is not installed",
  );
};

describeUnless(await findAbsence(), "the AWS CLI, over moto", () => {
  let url = "";
  const moto = spawn(process.execPath, ["test/aws/emulator-process.ts"], {
    env: { ...process.env, MAILPROOF_EMULATOR: "moto" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  beforeAll(async () => {
    const [line] = (await once(createInterface(moto.stdout), "line")) as [string];
    url = (JSON.parse(line) as { readonly others: string }).others;
  });
  // It ends with its input, and takes moto along.
  afterAll(() => moto.stdin.end());

  const environment = (region: string) => ({
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
    AWS_SECRET_ACCESS_KEY: "a secret key",
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ENDPOINT_URL: url,
    AWS_ENDPOINT_URL_DYNAMODB: url,
    // What moto does not know is an error of its own, which would be asked for again.
    AWS_MAX_ATTEMPTS: "1",
  });
  /** Each test has a region of its own, and so an account that is empty. */
  const inRegion = (region: string) => ({
    aws: async (command: string) => {
      const { stdout } = await run("aws", command.split(" "), { env: environment(region) });
      return stdout.startsWith("{") ? JSON.parse(stdout) : stdout;
    },
    script: async (command: string, settings: Readonly<Record<string, string>> = {}) => {
      const env = { ...environment(region), ...settings };
      const ran = run(process.execPath, command.split(" "), { env });
      const { stdout, stderr, code = 0 } = await ran.catch((failed) => failed);
      return { code, lines: String(stdout).split("\n"), err: String(stderr) };
    },
  });
  /** A Lambda of the stage with the settings that an operator's commands read. */
  const givenLambda = async (stage: string, table: string) => {
    const { aws } = inRegion("eu-central-1");
    const settings = {
      TABLE_NAME: table,
      KEY_PEPPER: "pepper",
      CURSOR_SECRET: "secret",
      ACTIVITY_KEY: "key",
      SEALING_KEY: "key",
    };
    const trust = '{"Version":"2012-10-17","Statement":[]}';
    const { Role: role } = await aws(
      `iam create-role --role-name ${stage} --assume-role-policy-document ${trust}`,
    );
    const code = join(createFolder(), "empty.zip");
    writeFileSync(code, Buffer.concat([Buffer.from("PK\x05\x06"), Buffer.alloc(18)]));
    const variables = JSON.stringify({ Variables: settings });
    await aws(
      `lambda create-function --function-name ${stage} --runtime nodejs24.x --handler a.handler --role ${role.Arn} --zip-file fileb://${code} --environment ${variables}`,
    );
    await aws(
      `ssm put-parameter --type String --name /mailproof/${stage}/lambda/HttpMcp --value ${stage}`,
    );
  };
  const preview = "scripts/deploy.ts --stage production --preview";

  test("the preview lists the parts and the price of a stage when the account has only a zone", async () => {
    const { aws, script } = inRegion("eu-central-1");
    await aws("route53 create-hosted-zone --name example.net --caller-reference once");

    const { code, lines } = await script(preview, { API_DOMAIN: "api.example.net" });

    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^✓ credentials arn:aws:sts::0{12}:user\/moto, in eu-central-1$/),
        expect.stringMatching(/^! secrets +KeyPepper, .* will be made at random$/),
        expect.stringMatching(/^✓ VPCs +1 of 5 are taken, and the stage needs 1$/),
        "✓ DNS         api.example.net is in a zone of Route 53",
        expect.stringMatching(/^! price +\$\d+\.\d\d a month/),
        expect.stringMatching(/^2\. service: create the service by SST/),
      ]),
    );
    expect(code).toBe(0);
  });

  test("the preflight stops an account without room and a host name without a zone, with the reasons", async () => {
    const { aws, script } = inRegion("eu-west-1");
    for (const block of [1, 2, 3, 4]) await aws(`ec2 create-vpc --cidr-block 10.${block}.0.0/16`);

    const { code, lines } = await script(preview, { API_DOMAIN: "api.example.com" });

    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^✗ VPCs +5 of the account's 5 are taken/),
        expect.stringMatching(/^✗ DNS +api\.example\.com is in no zone of Route 53/),
        "Nothing was changed.",
      ]),
    );
    expect(code).toBe(1);
  });

  test("the preflight finds an existing certificate", async () => {
    const { aws, script } = inRegion("eu-west-2");
    const { CertificateArn: arn } = await aws(
      "acm request-certificate --domain-name api.example.org --region eu-west-2",
    );

    const { lines } = await script(preview, {
      API_DOMAIN: "api.example.org",
      API_CERTIFICATE: arn,
    });

    expect(lines.find((line) => line.includes("certificate "))).toMatch(
      /^. certificate that of api\.example\.org is (?:issued|PENDING_VALIDATION)/,
    );
  });

  test("an operator opens a stage's first account with the settings of its Lambda", async () => {
    const { script } = inRegion("eu-central-1");
    const table = await createTable(await createEmulatedAws({ endpoints: { dynamodb: url } }));
    await givenLambda("ada", table);

    const none = await script("infra/deploy/admin-on-stage.ts --stage ada accounts list");
    const made = await script(
      "infra/deploy/admin-on-stage.ts --stage ada accounts create --name First",
    );
    const one = await script("infra/deploy/admin-on-stage.ts --stage ada accounts list");

    expect(none.err).toBe("");
    expect(JSON.parse(none.lines.join(""))).toEqual([]);
    expect(JSON.parse(made.lines.join(""))).toMatchObject({
      live_key: expect.stringMatching(/^mp_live_/),
    });
    expect(JSON.parse(one.lines.join(""))).toMatchObject([{ name: "First", status: "active" }]);
  });

  test("the restore creates a protected and audited second table, and finds it the second time", async () => {
    const { aws, script } = inRegion("eu-central-1");
    const to = "--table-name";
    const table = await createTable(await createEmulatedAws({ endpoints: { dynamodb: url } }));
    await aws(`ssm put-parameter --type String --name /mailproof/bea/table --value ${table}`);
    await givenLambda("bea", table);
    const refused = await script("infra/deploy/restore-stage.ts --stage bea");
    await aws(
      `dynamodb update-continuous-backups ${to} ${table} --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true`,
    );

    const restored = await script("infra/deploy/restore-stage.ts --stage bea");
    const name = /TABLE_NAME=(\S+)/.exec(restored.lines.join("\n"))?.[1] ?? "";
    const { Table: described } = await aws(`dynamodb describe-table ${to} ${name}`);
    const at = name.replace(/^.*(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/, "$1-$2-$3T$4:$5:$6Z");
    const again = await script(`infra/deploy/restore-stage.ts --stage bea --at ${at}`);
    const never = await script(
      "infra/deploy/restore-stage.ts --stage bea --at 2099-01-01T00:00:00Z",
    );

    expect(refused.lines[0]).toContain("only a production stage keeps every second");
    expect(restored).toMatchObject({ code: 0, err: "" });
    expect(restored.lines.join("")).toContain('"ok": true');
    expect(described.DeletionProtectionEnabled).toBe(true);
    expect(again.lines[0]).toBe(`${name} is there from an earlier run.`);
    expect(never.lines[0]).toMatch(/^2099-01-01T00:00:00Z cannot be restored: AWS has /);
  });
});
