import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readSettings } from "../../infra/settings.ts";

// What a deployer decides about a stage.

const REGION = { AWS_REGION: "eu-central-1" };
const CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/1a2b-3c4d";

test("the stage production is full, and every other stage lean, unless its deployer decides otherwise", () => {
  expect(readSettings("production", REGION)).toEqual({
    region: "eu-central-1",
    size: "full",
    vpc: "own",
    dashboard: "api",
    apiDomain: null,
    appDomain: null,
    webAcl: null,
    quota: null,
    exits: 0,
    budgetUsd: null,
    callEmail: null,
    permissionsBoundary: null,
    tableName: null,
  });
  expect(readSettings("ada", REGION)).toMatchObject({ size: "lean", vpc: "none" });
  expect(readSettings("ada", { ...REGION, STAGE_SIZE: "" })).toMatchObject({ size: "lean" });
  expect(readSettings("ada", { ...REGION, STAGE_SIZE: "full" })).toMatchObject({
    size: "full",
    vpc: "own",
  });
  expect(readSettings("production", { ...REGION, STAGE_SIZE: "lean" })).toMatchObject({
    size: "lean",
    vpc: "none",
  });
});

test("the settings keep each value that the deployer sets", () => {
  const settings = readSettings("production", {
    ...REGION,
    VPC: "vpc-0a1b2c",
    DASHBOARD: "cloudfront",
    API_DOMAIN: "api.example.com",
    APP_DOMAIN: "app.example.com",
    APP_CERTIFICATE: CERTIFICATE,
    CONCURRENCY_QUOTA: "1000",
    BUDGET_USD: "300",
    CALL_EMAIL: "ops@example.com",
    TABLE_NAME: "mailproof-restored",
  });

  expect(settings).toMatchObject({
    vpc: "vpc-0a1b2c",
    dashboard: "cloudfront",
    apiDomain: { name: "api.example.com", certificate: null },
    appDomain: { name: "app.example.com", certificate: CERTIFICATE },
    quota: 1_000,
    budgetUsd: 300,
    callEmail: "ops@example.com",
    tableName: "mailproof-restored",
  });
});

test.each([
  [{ AWS_REGION: "" }, "AWS_REGION is not set; it has to be the region to deploy to"],
  [{ AWS_REGION: "Frankfurt" }, 'AWS_REGION is "Frankfurt"; it has to be the region'],
  [{ STAGE_SIZE: "small" }, 'STAGE_SIZE is "small"; it has to be full or lean.'],
  [{ VPC: "shared" }, 'VPC is "shared"; it has to be own, none or the id of a VPC.'],
  [{ DASHBOARD: "yes" }, 'DASHBOARD is "yes"; it has to be cloudfront, api or none.'],
  [{ API_DOMAIN: "https://api.example.com" }, "API_DOMAIN is"],
  [{ API_CERTIFICATE: CERTIFICATE }, "API_CERTIFICATE is set without API_DOMAIN"],
  [
    { APP_DOMAIN: "app.example.com" },
    "APP_DOMAIN is for CloudFront; it needs DASHBOARD=cloudfront",
  ],
  [{ WEB_ACL: "ours" }, 'WEB_ACL is "ours"; it has to be the ARN of a global web ACL.'],
  [
    {
      DASHBOARD: "cloudfront",
      APP_DOMAIN: "app.example.com",
      APP_CERTIFICATE: CERTIFICATE.replace("us-east-1", "eu-central-1"),
    },
    "in us-east-1, where CloudFront looks for it",
  ],
  [{ CALL_EMAIL: "ops" }, "CALL_EMAIL is"],
  ...["a thousand", "1e3", "-1", "0", "10.5", "1,000"].flatMap((number) => [
    [
      { CONCURRENCY_QUOTA: number },
      `CONCURRENCY_QUOTA is "${number}"; it has to be a whole number`,
    ],
    [{ BUDGET_USD: number }, `BUDGET_USD is "${number}"; it has to be a whole number`],
  ]),
] as readonly (readonly [Record<string, string>, string])[])(
  "the deployment stops at %o with the setting's name and its allowed values",
  (environment, sentence) => {
    expect(() => readSettings("ada", { ...REGION, ...environment })).toThrow(sentence);
  },
);

test("the deployment reports all wrong settings at once", () => {
  expect(() => readSettings("ada", { STAGE_SIZE: "small", BUDGET_USD: "much" })).toThrow(
    /AWS_REGION[^]*STAGE_SIZE[^]*BUDGET_USD[^]*Set it in \.env\.ada\./,
  );
});

test("docs/operating.md contains a row for every setting of a stage", () => {
  const rows = readFileSync("docs/operating.md", "utf8");
  const names = [...readFileSync("infra/settings.ts", "utf8").matchAll(/^ {2}([A-Z_]+): v\./gm)];

  expect(names.length).toBeGreaterThan(10);
  expect(names.map(([, name]) => name).filter((name) => !rows.includes(`| \`${name}\``))).toEqual(
    [],
  );
});

test("exits require a network of the stage's own, and a name", () => {
  const exits = { ...REGION, EXITS: "2", SMTP_HELLO: "probe.example.com" };

  expect(readSettings("production", exits)).toMatchObject({ exits: 2 });
  expect(() => readSettings("ada", exits)).toThrow("EXITS needs VPC=own");
  expect(() => readSettings("production", { ...exits, SMTP_HELLO: "" })).toThrow(
    "EXITS is set without SMTP_HELLO",
  );
});

test("every documented deployment uses npm run deploy, which reads the account's quota", () => {
  const files = globSync([
    "{README,CONTRIBUTING,SECURITY}.md",
    "docs/**/*.md",
    "scripts/**/*.md",
    ".github/workflows/*.yml",
  ]);
  const commands = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/(?:npm run|npx) (?:sst )?(?:-- )?deploy\b/g)].map(
      ([command]) => ({ file, command }),
    ),
  );

  expect(commands.length).toBeGreaterThan(5);
  expect(commands.filter(({ command }) => command !== "npm run deploy")).toEqual([]);
});
