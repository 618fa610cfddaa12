import { describe, expect, test } from "vitest";
import { deploy } from "../../infra/deploy/deploy.ts";
import { type Programs, toWords } from "../../infra/deploy/programs.ts";

// npm run deploy, with an account that is told and programs that are written down. test/third-party has AWS's own command line.

type Answer = unknown;

const LOCK = "s3api list-objects-v2 --bucket sst-state-1 --prefix lock/mailproof/production.json";
const ACCOUNT: Readonly<Record<string, Answer>> = {
  "sts get-caller-identity": { Account: "123456789012", Arn: "arn:aws:iam::123456789012:user/ada" },
  "ssm get-parameters --names /mailproof/production/url": { Parameters: [] },
  "ssm get-parameters --names /sst/bootstrap": {
    Parameters: [{ Value: '{"asset":"sst-asset-1","state":"sst-state-1"}' }],
  },
  [LOCK]: {},
  "ssm get-parameters-by-path --path /mailproof/production/lambda": { Parameters: [] },
  "ssm get-parameter --name /mailproof/production/versions": { Parameter: { Value: "{}" } },
  "ssm get-parameter --name /sst/bootstrap": { Parameter: { Value: '{"asset":"sst-asset-1"}' } },
  "ssm get-parameter --name /mailproof/production/url": {
    Parameter: { Value: "https://api.example.com" },
  },
  "ssm get-parameter --name /mailproof/production/egress": { Parameter: { Value: "192.0.2.1" } },
  "lambda get-account-settings": { AccountLimit: { ConcurrentExecutions: 1_000 } },
  "ec2 describe-addresses": { Addresses: [] },
  "ec2 describe-vpcs": { Vpcs: [{}] },
  "service-quotas get-service-quota --service-code ec2 --quota-code L-0263D0A3": {
    Quota: { Value: 5 },
  },
  "service-quotas get-service-quota --service-code vpc --quota-code L-F678F1CE": {
    Quota: { Value: 5 },
  },
  "route53 list-hosted-zones": { HostedZones: [{ Name: "example.com." }] },
  "cloudfront list-distributions": { DistributionList: { Items: [{}] } },
};
const SECRETS = ["KeyPepper", "CursorSecret", "ActivityKey", "SealingKey"];
/** An account, or a key. */
const MADE = {
  account_id: "acc_1",
  live_key: "mp_live_1",
  test_key: "mp_test_1",
  key: "mp_test_2",
  key_id: "key_2",
};
const PROGRAM = /(?:node|sst|aws)$/;

type Given = {
  readonly account?: Readonly<Record<string, Answer>>;
  /** What AWS's command line prints in place of an answer. */
  readonly faults?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly accounts?: readonly object[];
  /** The program whose command has these words fails. */
  readonly failsAt?: string;
  /** After it, SST's lock is there. */
  readonly locksAt?: string;
  readonly isPreview?: boolean;
  readonly isAgreed?: boolean;
  readonly agrees?: boolean;
  readonly isWatched?: boolean;
  /** Actions that the caller may not do. */
  readonly lacks?: readonly string[] | "all";
};

const SIMULATION =
  /^iam simulate-principal-policy --policy-source-arn \S+ --action-names (.+?)(?: --.*)?$/;

const simulate = (actions: readonly string[], lacks: readonly string[] | "all") => ({
  EvaluationResults: actions.map((name) => ({
    EvalActionName: name,
    EvalDecision: lacks === "all" || lacks.includes(name) ? "implicitDeny" : "allowed",
  })),
});

const run = async (given: Given = {}) => {
  const { account = {}, environment = {}, secrets = SECRETS, accounts = [], failsAt } = given;
  const answers: Record<string, Answer> = { ...ACCOUNT, ...account };
  const lines: string[] = [];
  const ran: string[] = [];
  const quotas: (string | undefined)[] = [];
  const known = [...accounts];
  const open = (env: Readonly<Record<string, string | undefined>>): Programs => {
    const note = (program: string, args: readonly string[]) => {
      const command = [PROGRAM.exec(program)?.[0], ...args].join(" ");
      if (given.locksAt !== undefined && command.includes(given.locksAt))
        answers[LOCK] = { Contents: [{}] };
      if (failsAt !== undefined && command.includes(failsAt)) throw new Error(`${command} failed`);
      return command;
    };
    return {
      aws: async (command) => {
        const [, actions] = SIMULATION.exec(command) ?? [];
        if (actions !== undefined) return simulate(actions.split(" "), given.lacks ?? []);
        if (command.startsWith("lambda get-alias")) return { FunctionVersion: "" };
        const fault = given.faults?.[command];
        if (fault !== undefined) throw new Error(toWords({ stderr: fault, message: "" }));
        const answer = answers[command];
        if (answer === undefined) throw new Error(`An error occurred: no ${command}`);
        return answer;
      },
      run: async (program, args, more = {}) => {
        const secrets = Object.entries(more).map(([name, value]) => `${name}=${value} `);
        ran.push(`${secrets.join("")}${note(program, args)}`);
        quotas.push(env["CONCURRENCY_QUOTA"]);
      },
      read: async (program, args) => {
        const command = note(program, args);
        if (command.includes("secret list"))
          return secrets.map((name) => `${name}=a secret\n`).join("");
        ran.push(command);
        if (command.includes("accounts list")) return JSON.stringify(known);
        if (command.includes("keys revoke")) return "{}";
        if (command.includes("accounts create"))
          known.push({ account_id: MADE.account_id, status: "active" });
        return JSON.stringify(MADE);
      },
      sleep: async () => undefined,
      say: (line) => void lines.push(line),
      agree: async () => given.agrees ?? false,
    };
  };
  const code = await deploy(
    {
      stage: "production",
      environment: { AWS_REGION: "eu-central-1", ...environment },
      isPreview: given.isPreview ?? false,
      isAgreed: given.isAgreed ?? true,
      isWatched: given.isWatched ?? true,
      isAtOnce: false,
    },
    open,
  );
  return { code, ran, quotas, text: lines.join("\n") };
};

const NEW_SECRETS = { secrets: [] };
const DEPLOYED = { "ssm get-parameters --names /mailproof/production/url": { Parameters: [{}] } };

test("a first deployment creates the missing parts in order, shows the keys once and lists the things to keep", async () => {
  const { code, ran, quotas, text } = await run(NEW_SECRETS);

  expect(ran.map((one) => one.replace(/\S*secrets\.env/, "FILE"))).toEqual([
    "sst secret load FILE --stage production",
    "sst deploy --stage production",
    "node infra/cdk/app.ts production",
    "aws cloudformation deploy --stack-name mailproof-production-operations --s3-bucket sst-asset-1 --no-fail-on-empty-changeset --template-file cdk.out/mailproof-production-operations.template.json",
    "node infra/deploy/admin-on-stage.ts --stage production accounts list",
    "node infra/deploy/admin-on-stage.ts --stage production accounts create --name First --plan pro --credits 1000",
    "MAILPROOF_KEY=mp_test_1 node scripts/smoke.ts https://api.example.com",
  ]);
  expect(text).toContain("Live key  mp_live_1\nTest key  mp_test_1");
  expect(text.match(/mp_live_1/g)).toHaveLength(1);
  expect(text).toMatch(
    /API +https:\/\/api\.example\.com\nDashboard +https:\/\/api\.example\.com\/app\//,
  );
  expect(text).toMatch(/Addresses +192\.0\.2\.1/);
  expect(code).toBe(0);
  // Sizes are made from what AWS says of the account.
  expect(new Set(quotas)).toEqual(new Set(["1000"]));
});

test("a later deployment keeps secrets and account, and tests the stage with a key that it revokes", async () => {
  const { code, ran } = await run({
    account: DEPLOYED,
    accounts: [
      { account_id: "acc_0", status: "closed" },
      { account_id: "acc_1", status: "active" },
    ],
  });

  expect(ran.filter((one) => /secret|accounts create/.test(one))).toEqual([]);
  expect(ran.slice(-4)).toEqual([
    "node infra/deploy/admin-on-stage.ts --stage production accounts list",
    "node infra/deploy/admin-on-stage.ts --stage production keys create --account acc_1 --mode test --name smoke --expires 1d",
    "MAILPROOF_KEY=mp_test_2 node scripts/smoke.ts https://api.example.com",
    "node infra/deploy/admin-on-stage.ts --stage production keys revoke --account acc_1 --key key_2",
  ]);
  expect(code).toBe(0);
});

test.each(["sst deploy", "infra/cdk/app.ts", "cloudformation deploy", "accounts create"])(
  "a deployment that fails at %s stops with a message, and the next run continues",
  async (failsAt) => {
    const failed = await run({ ...NEW_SECRETS, failsAt });

    expect(failed.code).toBe(1);
    expect(failed.text).toContain("Run the same command again: it goes on from here.");
    const again = await run({ account: DEPLOYED });
    expect(again.code).toBe(0);
    expect(again.text).toContain("Test key  mp_test_1");
  },
);

test("a deployment shows the new keys when the smoke test fails after their creation", async () => {
  const { code, text } = await run({ failsAt: "smoke.ts" });

  expect(code).toBe(1);
  expect(text).toContain("Live key  mp_live_1");
});

test("a failed smoke test shows no key when only a log reads its output", async () => {
  const { code, text } = await run({ failsAt: "smoke.ts", isWatched: false });

  expect(code).toBe(1);
  expect(text).toContain("scripts/smoke.ts https://api.example.com failed");
  expect(text).not.toContain("mp_");
});

test("an unwatched deployment shows no key and tests the stage with a key that it revokes", async () => {
  const { code, ran, text } = await run({ isWatched: false });

  expect(ran.filter((one) => one.includes("accounts create"))).toHaveLength(1);
  expect(text).not.toContain("mp_");
  expect(text).toContain("keys create --account acc_1 --mode live");
  expect(ran.slice(-3)).toEqual([
    "node infra/deploy/admin-on-stage.ts --stage production keys create --account acc_1 --mode test --name smoke --expires 1d",
    "MAILPROOF_KEY=mp_test_2 node scripts/smoke.ts https://api.example.com",
    "node infra/deploy/admin-on-stage.ts --stage production keys revoke --account acc_1 --key key_2",
  ]);
  expect(code).toBe(0);
});

test("a preview or a refused confirmation changes nothing", async () => {
  const preview = await run({ ...NEW_SECRETS, isPreview: true });
  const refused = await run({ ...NEW_SECRETS, isAgreed: false });

  expect(preview).toMatchObject({ code: 0, ran: [] });
  expect(preview.text).toMatch(/1\. secrets: make KeyPepper.*\n2\. service: create/);
  expect(refused).toMatchObject({ code: 1, ran: [] });
  expect(refused.text).toContain("Nothing was changed.");
  expect((await run({ isAgreed: false, agrees: true })).code).toBe(0);
});

const OWN_CERTIFICATE = "arn:aws:acm:eu-central-1:123456789012:certificate/1a2b";
const ofCertificate = (certificate: object) => ({
  account: {
    [`acm describe-certificate --certificate-arn ${OWN_CERTIFICATE} --region eu-central-1`]: {
      Certificate: certificate,
    },
  },
  environment: { API_DOMAIN: "api.example.com", API_CERTIFICATE: OWN_CERTIFICATE },
});
const taken = (count: number) => Array.from({ length: count }, () => ({}));
const ownTags = [
  { Key: "sst:app", Value: "mailproof" },
  { Key: "sst:stage", Value: "production" },
];

describe("a fault that stops the preflight before any change", () => {
  test.each<readonly [what: string, given: Given, sentence: string]>([
    ["a region", { environment: { AWS_REGION: "" } }, "AWS_REGION is not set"],
    [
      "credentials",
      { account: { "sts get-caller-identity": undefined } },
      "✗ credentials AWS does not know you",
    ],
    [
      "a network",
      { faults: { "sts get-caller-identity": "Could not connect to the endpoint URL" } },
      "✗ credentials AWS cannot be reached: the network, a proxy or the region is wrong.",
    ],
    [
      "one of the needed rights",
      { lacks: ["lambda:CreateFunction"] },
      "✗ rights      arn:aws:iam::123456789012:user/ada lacks lambda:CreateFunction: sign in as a role that may administer the account, or let an administrator attach the policies that npx node infra/cdk/pipeline-app.ts writes",
    ],
    ["any right to change AWS", { lacks: "all" }, "more: sign in as a role"],
    [
      "a free SST lock",
      { account: { [LOCK]: { Contents: [{}] } } },
      "If none runs: npm run sst -- unlock --stage production",
    ],
    [
      "the permission limit of GitHub's role",
      {
        account: {
          "sts get-caller-identity": {
            Account: "1",
            Arn: "arn:aws:sts::123456789012:assumed-role/deploy-mailproof/GitHubActions",
          },
        },
      },
      "may make no role without its limit: set PERMISSIONS_BOUNDARY",
    ],
    [
      "a secret of a deployed stage",
      { account: DEPLOYED, secrets: SECRETS.slice(1) },
      "✗ secrets     KeyPepper is missing, though the stage is deployed.",
    ],
    [
      "the Lambdas of CONCURRENCY_QUOTA",
      { environment: { CONCURRENCY_QUOTA: "5000" } },
      "✗ Lambdas     CONCURRENCY_QUOTA is 5000, and the account may run 1000 at once.",
    ],
    [
      "free fixed addresses",
      { account: { "ec2 describe-addresses": { Addresses: taken(4) } } },
      "✗ addresses   4 of the account's 5 are taken, and the stage needs 2.",
    ],
    [
      "room for a VPC",
      { account: { "ec2 describe-vpcs": { Vpcs: taken(5) } } },
      "✗ VPCs        5 of the account's 5 are taken, and the stage needs 1.",
    ],
    [
      "the shared VPC",
      { environment: { VPC: "vpc-0a1b" } },
      "✗ VPC         vpc-0a1b cannot be used: An error occurred",
    ],
    [
      "a stage's VPC",
      {
        environment: { VPC: "vpc-0a1b" },
        account: { "ec2 describe-vpcs --vpc-ids vpc-0a1b": { Vpcs: [{}] } },
      },
      "✗ VPC         vpc-0a1b was not made by a stage.",
    ],
    [
      "a zone for the host name",
      { environment: { API_DOMAIN: "api.example.net" } },
      "✗ DNS         api.example.net is in no zone of Route 53.",
    ],
    [
      "the region's own certificate",
      { environment: { API_DOMAIN: "api.example.com", API_CERTIFICATE: OWN_CERTIFICATE } },
      "✗ certificate that of api.example.com was not found",
    ],
    [
      "an issued certificate",
      ofCertificate({ Status: "PENDING_VALIDATION", DomainName: "api.example.com" }),
      "✗ certificate that of api.example.com is PENDING_VALIDATION.",
    ],
    [
      "a certificate for the host name",
      ofCertificate({ Status: "ISSUED", SubjectAlternativeNames: ["*.app.example.com"] }),
      "✗ certificate the one for api.example.com is for *.app.example.com.",
    ],
  ])("the preflight stops a deployment without %s", async (_what, given, sentence) => {
    const { code, ran, text } = await run(given);

    expect(text).toContain(sentence);
    expect(code).toBe(1);
    expect(ran).toEqual([]);
  });
});

describe("a note of the preflight", () => {
  test.each<readonly [what: string, given: Given, sentence: string]>([
    [
      "a young account's ten Lambdas",
      {
        account: { "lambda get-account-settings": { AccountLimit: { ConcurrentExecutions: 10 } } },
      },
      "! Lambdas     10 at once: lists are slow, and callers wait for them. Ask for more: aws service-quotas",
    ],
    [
      "an unknown quota of Lambdas",
      { account: { "lambda get-account-settings": undefined } },
      "! Lambdas     AWS did not say: An error occurred",
    ],
    [
      "an absent way out on port 25",
      { environment: { VPC: "none" } },
      "! port 25     there is no way to mail servers: mailboxes will be unknown, and not charged.",
    ],
    ["addresses whose port 25 AWS must open", {}, "! port 25     AWS keeps it closed"],
    [
      "proxies",
      { secrets: [...SECRETS, "SmtpProxies"] },
      "✓ port 25     through the proxies of SmtpProxies",
    ],
    [
      "an account new to CloudFront",
      {
        environment: { DASHBOARD: "cloudfront" },
        account: { "cloudfront list-distributions": {} },
      },
      "! CloudFront  the account has never used it, and AWS may refuse",
    ],
    [
      "the root user",
      {
        account: {
          "sts get-caller-identity": { Account: "1", Arn: "arn:aws:iam::123456789012:root" },
        },
      },
      "! credentials the root user of account 1 in eu-central-1.",
    ],
    [
      "addresses and a VPC that a stopped run created",
      {
        account: {
          "ec2 describe-addresses": {
            Addresses: [...taken(3), { Tags: ownTags }, { Tags: ownTags }],
          },
          "ec2 describe-vpcs": { Vpcs: [...taken(4), { Tags: ownTags }] },
        },
      },
      "✓ addresses   3 of 5 are taken, and the stage needs 2",
    ],
    [
      "a wildcard certificate",
      ofCertificate({ Status: "ISSUED", SubjectAlternativeNames: ["*.example.com"] }),
      "✓ certificate that of api.example.com is issued",
    ],
    [
      "exits, which use addresses",
      { environment: { EXITS: "2", SMTP_HELLO: "probe.example.com" } },
      "✓ addresses   0 of 5 are taken, and the stage needs 4",
    ],
    [
      "the price of exits",
      { environment: { EXITS: "2", SMTP_HELLO: "probe.example.com" } },
      "! price       $133.19 a month before the first request",
    ],
    ["the price of the stage", {}, "! price       $118.48 a month before the first request"],
  ])("the preflight reports %s and continues", async (_what, given, sentence) => {
    const { code, text } = await run(given);

    expect(text).toContain(sentence);
    expect(code).toBe(0);
  });
});

test.each([
  [
    "An error occurred (AccessDenied) when calling the ListRoles operation: User: arn:aws:iam::1:user/a is not authorized to perform: iam:ListRoles on resource: x",
    "You may not do it: the right iam:ListRoles is missing.",
  ],
  [
    "An error occurred (AccessDeniedException) when calling the GetParameter operation",
    "You may not do it: GetParameter was refused.",
  ],
  ["api error AccessDenied: <Error><Code>AccessDenied</Code></Error>", "You may not do it."],
  [
    'Unable to locate credentials. You can configure credentials by running "aws login".',
    "You are not signed in, or no longer.",
  ],
  [
    "An error occurred (ExpiredToken) when calling the GetCallerIdentity operation",
    "You are not signed in, or no longer.",
  ],
  [
    "dial tcp: lookup ssm.eu-central-1.amazonaws.com: no such host",
    "AWS cannot be reached: the network, a proxy or the region is wrong.",
  ],
  [
    "An error occurred (ResourceNotFoundException) when calling the DescribeTable operation",
    "An error occurred (ResourceNotFoundException) when calling the DescribeTable operation",
  ],
  ["deserialization failed <html><body>503</body></html>", "deserialization failed"],
])("the deployment turns the error %j into one sentence", (stderr, sentence) => {
  expect(toWords({ stderr, message: "aws failed" })).toBe(sentence);
});

test("a deployment stopped by SST's lock prints how to remove the lock", async () => {
  const { text } = await run({ failsAt: "sst deploy", locksAt: "sst deploy" });

  expect(text).toContain("If none runs: npm run sst -- unlock --stage production");
});

test("a deployment sizes its Lambdas for a new AWS account's quota of ten", async () => {
  const { quotas } = await run({
    account: { "lambda get-account-settings": { AccountLimit: { ConcurrentExecutions: 10 } } },
  });

  expect(new Set(quotas)).toEqual(new Set(["10"]));
});
