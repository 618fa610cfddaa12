import { existsSync, readFileSync } from "node:fs";
import { endpoints } from "@mailproof/api/endpoints";
import { schedules, workers } from "@mailproof/core/background/workers";
import { isDeadLetterQueue } from "@mailproof/core/ports/queue";
import { formatMarkdownTable } from "@mailproof/lab/markdown-table";
import { SPECIAL_BLOCKS } from "@mailproof/mail/special-blocks";
import { expect, test } from "vitest";
import { GRANTS, type Need } from "../../infra/iam.ts";
import { fitToQuota, mayReserve, NEW_ACCOUNT_QUOTA } from "../../infra/quota.ts";
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

test("HEAD has a route wherever GET has one, and no other method has a second route", () => {
  expect(listRouteKeys("GET /v1/jobs/{id}")).toEqual(["GET /v1/jobs/{id}", "HEAD /v1/jobs/{id}"]);
  expect(listRouteKeys("POST /v1/find")).toEqual(["POST /v1/find"]);
});

const IDENTIFIES = ["keys:check", "activity"];

test("the topology contains every endpoint, worker and schedule with its declarations", () => {
  expect(routes.map(({ route }) => route)).toEqual([
    ...endpoints.map(({ route }) => route),
    "ANY /mcp",
    "$default",
  ]);
  expect(routes.map(({ lambda }) => lambda.needs)).toEqual([
    ...endpoints.map(({ needs }) => [...needs, ...IDENTIFIES]),
    [...new Set([...endpoints.flatMap(({ needs }) => needs), ...IDENTIFIES])],
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

test("every queue follows its dead-letter queue, and a dead-letter queue has none", () => {
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

const listPartitions = (need: Need): string =>
  [...new Set(GRANTS[need].flatMap(({ partitions = [] }) => partitions))]
    .map((one) => `\`${one}\``)
    .join(", ");

const HELD: readonly (readonly [what: string, need: Need, why: string])[] = [
  ["`KEY_PEPPER`", "keys:check", "finds a key by its hash"],
  ["`CURSOR_SECRET`", "cursor", "signs positions in pages"],
  ["`ACTIVITY_KEY`", "activity", "hashes visitors, recipients and senders"],
  ["`SEALING_KEY`", "seal", "opens webhooks' secrets, signs receipts"],
  [`only ${listPartitions("table:mail-hosts")}`, "table:mail-hosts", "parses replies of strangers"],
];

test("docs/operating.md lists the Lambdas that hold each secret, or reach only some partitions", () => {
  const rows = HELD.map(([what, need, why]) => [
    what,
    listHolders(({ needs }) => needs.includes(need)),
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
