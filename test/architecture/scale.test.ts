import { globSync, readFileSync } from "node:fs";
import { KEYS_MAX } from "@mailproof/core/accounts/api-key-items";
import { SHARDS as ACTIVITY_SHARDS } from "@mailproof/core/activity/items";
import { CALIBRATION_SHARDS } from "@mailproof/core/calibration/items";
import { PLANS } from "@mailproof/core/money/plans";
import { CHUNK_ROWS } from "@mailproof/core/ports/settings";
import { SCHEDULE_PARTITIONS } from "@mailproof/core/runtime/leases";
import { SESSIONS_MAX } from "@mailproof/core/smtp-pool/fairness";
import { formatMarkdownTable } from "@mailproof/lab/markdown-table";
import { MAIL_PROVIDERS } from "@mailproof/mail/mail-provider-table";
import { findMailProvider, PROVIDER_CONNECTIONS } from "@mailproof/mail/mail-providers";
import { expect, test } from "vitest";
import { readResults } from "../../bench/report.ts";
import { drawDeployment } from "../../infra/picture.ts";
import { listIdleCosts, readCostOfMillion, sumIdleCosts } from "../../infra/prices.ts";
import { readSettings } from "../../infra/settings.ts";
import { lambdas, prober, throttle, workerSpecs } from "../../infra/topology.ts";
import { asRows } from "../runner/as-rows.ts";

// docs/scale.md is arithmetic: what it takes from the code stands in tables that are made here.

const page = readFileSync("docs/scale.md", "utf8");
const costs = readFileSync("docs/costs.md", "utf8");

const formatWhole = (value: number): string => Math.round(value).toLocaleString("en");
const formatRate = (value: number): string => (value < 10 ? value.toFixed(1) : formatWhole(value));

const getConcurrency = (name: string): number =>
  workerSpecs.find(({ queue }) => queue === name)?.lambda.reserved ?? Number.NaN;
const getSum = (amounts: readonly (number | null)[]): number =>
  amounts.reduce<number>((sum, one) => sum + (one ?? 0), 0);

const FIGURES: readonly (readonly [what: string, figure: number, file: string])[] = asRows`
  requests a second, all clients | ${throttle.perSecond} | infra/topology.ts
  ${"requests a minute of a key, plan `scale`"} | ${PLANS.scale.requestsPerMinute} | money/plans.ts
  ${"requests a minute of an account, `scale`"} | ${PLANS.scale.accountRequestsPerMinute} | money/plans.ts
  keys of an account | ${KEYS_MAX} | accounts/api-key-items.ts
  ${"shards of a balance, plan `scale`"} | ${PLANS.scale.balanceShards} | money/plans.ts
  concurrent chunks | ${getConcurrency("chunks")} | lists/chunk-worker.ts
  rows of a chunk of a file | ${CHUNK_ROWS.file} | ports/settings.ts
  concurrent workers of single verifications | ${getConcurrency("singles")} | lists/chunk-worker.ts
  concurrent probers | ${prober.reserved ?? Number.NaN} | infra/topology.ts
  Lambdas reserved in all | ${getSum(lambdas.map(({ reserved }) => reserved))} | infra/topology.ts
  sessions of one process | ${SESSIONS_MAX} | smtp-pool/fairness.ts
  partitions of scheduled work | ${SCHEDULE_PARTITIONS.length} | runtime/leases.ts
  shards of a domain's day | ${ACTIVITY_SHARDS} | activity/items.ts
  shards of calibration | ${CALIBRATION_SHARDS} | calibration/items.ts
`;

const REPLY_SECONDS = 0.1;
const DAY_SECONDS = 86_400;
const SHOWN = ["google", "microsoft", "microsoft_consumer", "yahoo", "icloud", "mimecast", "ovh"];

/** Connect, greeting, EHLO and QUIT; a MAIL for each transaction and a RSET between two; the recipients. */
const toProviderRow = (name: string, host: string): readonly string[] => {
  const { limits } = findMailProvider(host);
  const transactions = limits.recipientsPerConnection / limits.recipientsPerTransaction;
  const replies = 3 + 2 * transactions + limits.recipientsPerConnection;
  const perSecond = limits.recipientsPerConnection / (replies * REPLY_SECONDS);
  const isOther = name === "any other, for each IP address";
  const connections = isOther ? limits.connections : PROVIDER_CONNECTIONS;
  return [
    name,
    String(limits.connections),
    String(connections),
    String(limits.recipientsPerConnection),
    formatRate(perSecond * Math.min(limits.connections, connections)),
    formatRate(perSecond * connections),
    formatWhole(perSecond * connections * DAY_SECONDS),
  ];
};

const toProviderTable = (): string =>
  formatMarkdownTable(
    [
      "provider",
      "connections to a host",
      "in all",
      "recipients of a connection",
      "a second, one host",
      "a second, all its hosts",
      "a day",
    ],
    [
      ...SHOWN.map((name) => {
        const row = MAIL_PROVIDERS.find((one) => one.name === name);
        return toProviderRow(`\`${name}\``, row?.hosts[0] ?? "");
      }),
      toProviderRow("any other, for each IP address", "mx.example.com"),
    ],
  );

/** As many of a file's addresses are at one large provider; the others have hosts of their own. */
const PROVIDER_SHARE = 0.4;

const toCostTable = (): string => {
  const own = readCostOfMillion("an address in a file, at hosts of their own");
  const provider = readCostOfMillion("an address in a file, at Gmail, 20 chunks");
  const file = own * (1 - PROVIDER_SHARE) + provider * PROVIDER_SHARE;
  const call = readCostOfMillion("POST /v1/verify, new");
  return formatMarkdownTable(
    ["addresses a day", "a second", "in files, $ a day", "one call each, $ a day"],
    [1, 10, 100].map((millions) => [
      formatWhole(millions * 1e6),
      formatRate((millions * 1e6) / DAY_SECONDS),
      (file * millions).toFixed(2),
      formatWhole(call * millions),
    ]),
  );
};

test.each(asRows`
  figures of the code | ${() =>
    formatMarkdownTable(
      ["what", "figure", "file"],
      FIGURES.map(([what, figure, file]) => [what, formatWhole(figure), `\`${file}\``]),
    )}
  the limits of a provider | ${toProviderTable}
  the costs | ${toCostTable}
`)("docs/scale.md states %s as the code does", (_what, toTable) => {
  const table = toTable();
  expect(page.includes(table), `docs/scale.md should contain\n\n${table}\n`).toBe(true);
});

/** The partitions of the table and of its indexes, as the code writes their keys. */
const listPartitions = (): readonly string[] => {
  const sources = globSync("packages/core/src/**/*.ts").map((file) => readFileSync(file, "utf8"));
  const found = sources.flatMap((text) => [
    ...text.matchAll(
      /(?:pk: |=>\s+|return )`([A-Z]{3,})#|(?:pk: |LIST_PK = |PARTITION = )"([A-Z]{3,})"/g,
    ),
  ]);
  return [...new Set(found.map(([, name, whole]) => name ?? whole ?? ""))].toSorted();
};

test("docs/scale.md lists every partition key, and only keys that the code writes", () => {
  const lines = [...page.matchAll(/^(?:\| `[A-Z]{3,}[#`]|- (?:items|indexes): ).*/gm)];
  const named = lines.flatMap(([line]) =>
    [...line.matchAll(/^\| `([A-Z]{3,})|[:,] `([A-Z]{3,})/g)].map(
      ([, row, listed]) => row ?? listed ?? "",
    ),
  );

  expect(listPartitions().length).toBeGreaterThan(30);
  expect([...new Set(named)].toSorted()).toEqual(listPartitions());
});

test("docs/operating.md states the number of reserved Lambdas, and the least quota for them", () => {
  const reserved = getSum(lambdas.map((one) => one.reserved));

  expect(readFileSync("docs/operating.md", "utf8")).toMatch(
    new RegExp(`From ${2 * reserved} on, background work reserves its ${reserved} `),
  );
});

test("docs/scale.md states the price of a stage and the units of a row as docs/costs.md does", () => {
  const stage = sumIdleCosts(readSettings("production", { AWS_REGION: "eu-west-1" }));

  expect(page).toContain(`The stage itself is $${stage.toFixed(2)} a month`);
  const [, units] =
    /^\| an address in a file, at hosts of their own +\| ([\d.]+) /m.exec(costs) ?? [];
  const [, callUnits] = /^\| `POST \/v1\/verify` +\| ([\d.]+) /m.exec(costs) ?? [];
  expect(page).toContain(`${units} units for a row of a file, ${callUnits} for a call`);
});

/** The lines of docs/costs.md, by those of `npm run bench cost`. */
const FLOWS: Readonly<Record<string, string>> = {
  "an address in a file, at hosts of their own": "an address in a file, at hosts of their own",
  "an address in a file, at Gmail, 20 chunks at once":
    "an address in a file, at Gmail, 20 chunks at once",
  "an address in a file, at Gmail, 70 chunks at once, slow replies":
    "an address in a file, at Gmail, 70 chunks at once, slow replies",
  "POST /v1/verify/batch, an address": "an address in a batch",
  "POST /v1/verify, new": "`POST /v1/verify`",
  "POST /v1/verify, keyed": "with an Idempotency-Key",
  "POST /v1/verify, cached": "from the result cache",
  "POST /v1/find": "`POST /v1/find`",
  "POST /v1/deliverability/check": "`POST /v1/deliverability/check`",
  "POST /v1/activity/events, an event": "an event of activity",
  "GET /v1/jobs": "`GET /v1/jobs`",
};

const toFlowTable = (): string => {
  const cost = readResults().find(({ name }) => name === "cost");
  const lines = cost?.tables?.[0]?.lines ?? [];
  return formatMarkdownTable(
    ["flow", "WRU", "RRU", "SQS", "counted", "Lambda, seconds", "with calls and Lambda"],
    Object.entries(FLOWS).map(([name, shown]) => {
      const line = lines.find((one) => one.startsWith(`${name}  `)) ?? "";
      const [writes = "", reads = "", messages = "", , counted = "", seconds = "", all = ""] = line
        .slice(name.length)
        .trim()
        .split(/\s+/);
      const [dollars, allDollars] = [counted, all].map((one) => one.replace("$", ""));
      return [shown, writes, reads, messages, dollars ?? "", seconds, allDollars ?? ""];
    }),
  );
};

/** What a stage has only in one size is nothing in the other. */
const toIdleTable = (): string => {
  const of = (size: string) =>
    listIdleCosts(readSettings("production", { AWS_REGION: "eu-west-1", STAGE_SIZE: size }));
  const [full, lean] = [of("full"), of("lean")];
  const sum = (items: typeof full) => items.reduce((total, { dollars }) => total + dollars, 0);
  return formatMarkdownTable(
    ["item", "calculation, full", "full", "calculation, lean", "lean"],
    [
      ...full.map(({ item, how, dollars }) => {
        const small = lean.find((one) => one.item === item);
        const [smallHow, smallDollars] = [small?.how ?? "none", small?.dollars ?? 0];
        const shown = smallHow === how ? "the same" : smallHow;
        return [item, how, dollars.toFixed(2), shown, smallDollars.toFixed(2)];
      }),
      ["**all**", "", sum(full).toFixed(2), "", sum(lean).toFixed(2)],
    ],
  );
};

test.each([
  ["each flow", toFlowTable],
  ["a stage before its first request", toIdleTable],
])("docs/costs.md states the costs of %s by the prices of infra/prices.ts", (_what, toTable) => {
  const table = toTable();
  expect(costs.includes(table), `docs/costs.md should contain\n\n${table}\n`).toBe(true);
});

test("the README states the prices of docs/costs.md", () => {
  const readme = readFileSync("README.md", "utf8").replaceAll(/\s+/g, " ");
  const stage = (size: string) =>
    sumIdleCosts(readSettings("production", { AWS_REGION: "eu-west-1", STAGE_SIZE: size }));
  const [own, slow, call] = [
    "an address in a file, at hosts of their own",
    "an address in a file, at Gmail, 70 chunks",
    "POST /v1/verify, new",
  ].map(readCostOfMillion);

  expect(readme).toContain(
    `costs $${stage("full").toFixed(2)} a month before its first request, a lean one $${stage("lean").toFixed(2)}; a million addresses in files are $${own?.toFixed(2)} to $${slow?.toFixed(2)} more, and a million single calls $${call?.toFixed(0)}`,
  );
});

test("docs/deployment.svg matches the topology", () => {
  expect(
    readFileSync("docs/deployment.svg", "utf8"),
    "run: npx node scripts/write.ts deployment",
  ).toBe(drawDeployment());
});
