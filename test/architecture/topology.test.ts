import { existsSync, globSync, readFileSync } from "node:fs";
import { endpoints, programEndpoints } from "@mailproof/api/endpoints";
import { verifyEmail } from "@mailproof/api/endpoints/verify-email";
import { schedules, workers } from "@mailproof/core/background/workers";
import { isDeadLetterQueue } from "@mailproof/core/ports/queue";
import { formatMarkdownTable } from "@mailproof/lab/markdown-table";
import { SPECIAL_BLOCKS } from "@mailproof/mail/ip";
import { expect, test } from "vitest";
import { GRANTS, listSettings, type Need } from "../../infra/iam.ts";
import { fitToQuota, mayReserve, NEW_ACCOUNT_QUOTA } from "../../infra/quota.ts";
import { readSettings } from "../../infra/settings.ts";
import {
  type Lambda,
  lambdas,
  listRouteKeys,
  queues,
  routes,
  scheduleSpecs,
  workerSpecs,
} from "../../infra/topology.ts";
import { listEntries } from "../../packages/functions/entries.ts";
import { findReleaseAbsence, importFromLastRelease } from "../app/release.ts";
import { describeUnless } from "../runner/describe-when.ts";

// The description of what runs on AWS, before a deployment builds it. What SST makes of it: npm run test:all -- infra.

test("a handler exists for every Lambda", () => {
  listEntries("http", "workers");
  const handlers = lambdas.map(({ handler }) => handler);
  const absent = handlers.filter((one) => !existsSync(one.replace(/\.handler$/, ".ts")));

  expect(absent, "these are not written").toEqual([]);
});

test("each name belongs to one Lambda", () => {
  const names = lambdas.map(({ name }) => name);

  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(names.filter((name) => !/^[A-Z][A-Za-z]+$/.test(name))).toEqual([]);
});

test("each route with GET also accepts HEAD, and each other method has one route", () => {
  expect(listRouteKeys("GET /v1/jobs/{id}")).toEqual(["GET /v1/jobs/{id}", "HEAD /v1/jobs/{id}"]);
  expect(listRouteKeys("POST /v1/find")).toEqual(["POST /v1/find"]);
});

const IDENTIFIES = ["keys:check", "activity"];

test("the topology contains every endpoint, worker and schedule with its declarations", () => {
  expect(routes.map(({ route }) => route)).toEqual([
    ...endpoints.map(({ route }) => route),
    "ANY /mcp",
    "ANY /compat/{vendor}/{path+}",
    "$default",
  ]);
  expect(routes.map(({ lambda }) => lambda.needs)).toEqual([
    ...endpoints.map(({ needs }) => [...needs, ...IDENTIFIES]),
    [...new Set([...programEndpoints.flatMap(({ needs }) => needs), ...IDENTIFIES])],
    [...verifyEmail.needs, ...IDENTIFIES],
    ["dashboard"],
  ]);
  expect(workerSpecs.map(({ queue }) => queue)).toEqual(workers.map(({ queue }) => queue.name));
  for (const { name, everySeconds } of schedules)
    expect(scheduleSpecs).toContainEqual(
      expect.objectContaining({
        everySeconds,
        lambda: expect.objectContaining({
          handler: `packages/functions/src/schedules/${name}.handler`,
        }),
      }),
    );
});

test("the topology lists each queue after its dead-letter queue, and no dead-letter queue buries its messages", () => {
  const names = queues.map(({ name }) => name);
  const worked = queues.filter(({ receivesMax }) => receivesMax !== null).map(({ name }) => name);

  expect(names).toEqual(worked.flatMap((name) => [`${name}-dead`, name]));
  expect(worked.filter(isDeadLetterQueue)).toEqual([]);
});

test("no grant allows an action by a star, or more than one service", () => {
  for (const grant of Object.values(GRANTS).flat()) {
    expect(grant.actions.filter((action) => !/^[a-z0-9]+:[A-Za-z]+$/.test(action))).toEqual([]);
    expect(new Set(grant.actions.map((action) => action.split(":")[0])).size).toBe(1);
  }
});

test("a Lambda stays within AWS's limits: at most 15 minutes, and a batch that fits its timeout", () => {
  for (const { timeoutSeconds } of lambdas) expect(timeoutSeconds).toBeLessThanOrEqual(900);
  // Single verifications wait side by side for mail servers, so that ten take as long as the slowest of them.
  const isSideBySide = (queue: string) => queue === "singles";
  for (const { queue, batch, lambda } of workerSpecs)
    expect(batch).toBeLessThanOrEqual(lambda.timeoutSeconds > 60 && !isSideBySide(queue) ? 1 : 10);
});

const isOfEndpoint = ({ name }: Lambda): boolean =>
  name.startsWith("Http") && name !== "HttpDefault";
const endpointCount = lambdas.filter(isOfEndpoint).length;

/** The Lambdas of endpoints as one, where all of them are meant. */
const listHolders = (holds: (lambda: Lambda) => boolean): string => {
  const holders = lambdas.filter(holds);
  const isOfAll = holders.filter(isOfEndpoint).length === endpointCount;
  const rest = isOfAll ? holders.filter((one) => !isOfEndpoint(one)) : holders;
  const names = rest.map(({ name }) => `\`${name}\``);
  return [...(isOfAll ? [`all ${endpointCount} of endpoints`] : []), ...names].join(", ");
};

/** Empty for a need that reaches all items. */
const listPartitions = (need: Need): string => {
  const partitions = new Set(GRANTS[need].flatMap(({ partitions: limited = [] }) => limited));
  return partitions.size === 0 ? "" : `: ${[...partitions].map((one) => `\`${one}\``).join(", ")}`;
};

const PARSES_REPLIES = "parses replies of mail servers that strangers run";

const HELD: readonly (readonly [what: string, need: Need, why: string])[] = [
  ["`KEY_PEPPER`", "keys:check", "finds a key by its hash"],
  ["`CURSOR_SECRET`", "cursor", "signs positions in pages"],
  ["`ACTIVITY_KEY`", "activity", "hashes visitors, recipients and senders"],
  ["`SEALING_KEY`", "seal", "opens webhooks' secrets, signs receipts"],
  ["`OIDC_CLIENT_SECRET`", "oidc", "redeems codes of the identity provider"],
  ["`SMTP_URL`", "relay", "sends this service's mails"],
  ["only items of mail hosts", "table:mail-hosts", PARSES_REPLIES],
  ["only items of rows", "table:rows", PARSES_REPLIES],
  ["only items of passkeys", "table:passkeys", "parses what strangers send"],
];

test("docs/operating.md lists the Lambdas that hold each secret, or reach only some partitions", () => {
  const rows = HELD.map(([what, need, why]) => [
    what,
    listHolders(({ needs }) => needs.includes(need)) + listPartitions(need),
    why,
  ]);
  const table = formatMarkdownTable(["on AWS", "Lambdas", "why"], rows);

  const isThere = readFileSync("docs/operating.md", "utf8").includes(table);
  expect(isThere, `docs/operating.md should contain\n\n${table}\n`).toBe(true);
});

test("the topology imports neither SST nor CDK", () => {
  for (const file of ["topology", "iam", "parameters", "lifecycle", "settings", "quota"])
    expect(readFileSync(`infra/${file}.ts`, "utf8")).not.toMatch(/\bsst\.|\baws\.|aws-cdk-lib/);
});

/** Dead letters come one by one, after a failure. */
const isBusy = ({ queue }: (typeof workerSpecs)[number]) => !queue.endsWith("-dead");

test.each([
  ["a new account", NEW_ACCOUNT_QUOTA, { chunks: 2, singles: 2, deliveries: 2 }],
  ["50", 50, { chunks: 2, singles: 2, deliveries: 3 }],
  ["200", 200, { chunks: 9, singles: 11, deliveries: 15 }],
  ["1,000", 1_000, { chunks: 40, singles: 50, deliveries: 64 }],
] as const)("the workers of a queue scale with a quota of %s", (_, quota, expected) => {
  const fitted = Object.fromEntries(
    workerSpecs.map((spec) => [spec.queue, fitToQuota(spec.lambda.reserved ?? 0, quota, lambdas)]),
  );

  expect(fitted).toMatchObject(expected);
  expect(Math.min(...Object.values(fitted))).toBeGreaterThanOrEqual(2);
});

test.each([50, 200, 835, 1_000, 3_000])(
  "the workers of busy queues leave callers half of a quota of %i",
  (quota) => {
    const sum = workerSpecs
      .filter(isBusy)
      .reduce((total, { lambda }) => total + fitToQuota(lambda.reserved ?? 0, quota, lambdas), 0);

    expect(sum).toBeLessThanOrEqual(quota / 2);
  },
);

/** AWS refuses a reservation that would leave fewer than these unreserved. */
const UNRESERVED_MIN = 100;

test.each([10, 100, 500, 835, 836, 1_000])(
  "AWS accepts the reservations of a stage at a quota of %i",
  (quota) => {
    const sum = lambdas.reduce((total, { reserved }) => total + (reserved ?? 0), 0);
    const reserved = mayReserve(quota, lambdas) ? sum : 0;

    expect(reserved).toBeLessThanOrEqual(Math.max(0, quota - UNRESERVED_MIN));
  },
);

test("the topology reserves no Lambda unless the account's quota leaves callers the greater part", () => {
  const sum = lambdas.reduce((total, { reserved }) => total + (reserved ?? 0), 0);

  expect(mayReserve(10, lambdas)).toBe(false);
  expect(mayReserve(2 * sum - 1, lambdas)).toBe(false);
  expect(mayReserve(2 * sum, lambdas)).toBe(true);
  expect(mayReserve(1_000, lambdas)).toBe(true);
});

// deploy/exit is another machine and has no code of ours: what it must know is written there once more, and compared here.

test("the exit refuses every block of IPv4 that is not public", () => {
  const rules = readFileSync("deploy/exit/danted.conf", "utf8");
  const refused = [...rules.matchAll(/^socks block \{ from: 0\.0\.0\.0\/0 to: (\S+) /gm)].map(
    ([, block]) => block,
  );

  // The last one refuses what no rule allows.
  expect(refused).toEqual([
    ...Object.keys(SPECIAL_BLOCKS).filter((block) => !block.includes(":")),
    "0.0.0.0/0",
  ]);
});

// AWS updates a stage piece by piece: the settings of a Lambda apart from its code, one Lambda after the other, and the routes
// and queues at some moment in between. So each piece of today must fit the others of the last release.

type Topology = Pick<
  typeof import("../../infra/topology.ts"),
  "lambdas" | "routes" | "workerSpecs"
>;
type Iam = Pick<typeof import("../../infra/iam.ts"), "listSettings">;

const givenLastRelease = async () => ({
  ...(await importFromLastRelease<Topology>("infra/topology.ts")),
  ...(await importFromLastRelease<Iam>("infra/iam.ts")),
});

/** What a Lambda does not start without. */
const REQUIRED = globSync("packages/functions/src/**/*.ts").flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(/requireSetting\(\w+, "(\w+)"\)/g)].map(
    ([, name]) => name,
  ),
);

describeUnless(findReleaseAbsence(), "a stage of the last release", () => {
  test("the Lambdas of the last release receive each of their settings from the new stage", async () => {
    const last = await givenLastRelease();
    const missing = last.lambdas.flatMap((one) => {
      const now = lambdas.find(({ name }) => name === one.name);
      const given = now ? listSettings(now) : [];
      return last.listSettings(one).filter((name) => !given.includes(name));
    });

    expect(missing).toEqual([]);
  });

  test("the stage of the last release gives today's Lambdas each required setting", async () => {
    const last = await givenLastRelease();
    const missing = lambdas.flatMap((one) => {
      const before = last.lambdas.find(({ name }) => name === one.name);
      const given = before ? last.listSettings(before) : listSettings(one);
      return listSettings(one).filter((name) => REQUIRED.includes(name) && !given.includes(name));
    });

    expect(REQUIRED).toContain("KEY_PEPPER");
    expect(missing).toEqual([]);
  });

  test("each route of the last release leads to a Lambda, and a Lambda reads each of its queues", async () => {
    const last = await givenLastRelease();
    const today = [...routes.map(({ route }) => route), ...workerSpecs.map(({ queue }) => queue)];
    const before = [
      ...last.routes.map(({ route }) => route),
      ...last.workerSpecs.map(({ queue }) => queue),
    ];

    expect(before.filter((one) => !today.includes(one))).toEqual([]);
  });
});

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
    owner: "production",
    permissionsBoundary: null,
    isTraced: false,
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
    TRACES: "on",
  });

  expect(settings).toMatchObject({
    vpc: "vpc-0a1b2c",
    dashboard: "cloudfront",
    apiDomain: { name: "api.example.com", certificate: null },
    appDomain: { name: "app.example.com", certificate: CERTIFICATE },
    quota: 1_000,
    budgetUsd: 300,
    callEmail: "ops@example.com",
    owner: "ops@example.com",
    tableName: "mailproof-restored",
    isTraced: true,
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
