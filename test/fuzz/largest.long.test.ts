import { openapi } from "@mailproof/api/openapi/openapi";
import { audit } from "@mailproof/core/background/audit";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { formatCsv, givenUpload } from "../things/jobs.ts";
import { createDailyReport } from "../things/reports.ts";
import { listOperations } from "./requests.ts";
import { resolveSchema } from "./shapes.ts";

// Goal: an item that is as large as its schema allows can be stored. Each field of each operation is at its limit.

const document: any = openapi("http://127.0.0.1");

const DOMAIN = `${"d".repeat(63)}.${"e".repeat(63)}.${"f".repeat(55)}.com`;
/** 254 characters, the most that an address has. */
const createEmail = (nth: number): string =>
  `${`${nth}`.padEnd(254 - DOMAIN.length - 1, "a")}@${DOMAIN}`;
const createUrl = (nth: number, length: number): string =>
  `https://hooks.example.com/${nth}`.padEnd(length, "x");
const createName = (): string => "Ö".repeat(64);
const createFilter = (_nth: number, length: number): string =>
  Array.from({ length: Math.floor((length + 1) / 12) }, () => "score:0-100").join(",");

type Create = (nth: number, length: number) => string;

/** Where a text has a meaning. */
const FIELDS: Readonly<Record<string, Create>> = {
  email: createEmail,
  domain: () => DOMAIN,
  sending_ip: () => "192.255.255.255",
  email_column: () => "email",
  filter: createFilter,
  q: () => "aaa",
  meant: () => `g${DOMAIN.slice(1)}`,
  expires_at: () => "2027-11-20T09:00:00Z",
  url: createUrl,
  webhook_url: createUrl,
  origin: (nth) => `https://${nth}.${DOMAIN.slice(4)}`,
  first_name: createName,
  last_name: createName,
  occurred_at: () => "2026-11-20T09:00:00Z",
  delivered_at: () => "2026-11-20T08:00:00Z",
  network: (nth) => `2001:db8:${nth}::/48`,
  file_name: (_nth, length) => `${"Ö".repeat(length - 4)}.csv`,
  content: () => Buffer.from(createDailyReport()).toString("base64"),
};
/** Fields that exclude others. */
const EXCLUDING: Readonly<Record<string, readonly string[]>> = {
  "/v1/api-keys": ["public"],
  "/v1/jobs/{id}/again": ["correct"],
  "/v1/verify/file": ["email_columns"],
};
const TEXT_LENGTH = 200;
const ITEMS = 100;

/** Every alternative at its largest. `fields`: texts that only this app knows. */
const listLargest = (
  sent: any,
  fields: Readonly<Record<string, Create>>,
  field = "",
  nth = 0,
): unknown[] => {
  const schema = resolveSchema(document, sent);
  const list = (one: any, name = field, at = nth) => listLargest(one, fields, name, at);
  const options = schema.oneOf ?? schema.anyOf;
  if (options) return options.flatMap((one: any) => list(one));
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum) return schema.enum;
  switch ([schema.type].flat()[0]) {
    case "object":
      return [
        Object.fromEntries(
          Object.entries<any>(schema.properties ?? {}).map(([name, one]) => [
            name,
            list(one, name)[0],
          ]),
        ),
      ];
    case "array": {
      const name = field.replace(/s$/, "");
      const { maxItems = ITEMS, items } = schema;
      const all = list(items, name, 0);
      const isList = resolveSchema(document, items).enum !== undefined;
      if (isList) return [all];
      return [Array.from({ length: maxItems }, (_, at) => list(items, name, at)[0])];
    }
    case "boolean":
      return [true];
    case "integer":
    case "number":
      return [schema.maximum ?? 1_000];
    default: {
      const length = schema.maxLength ?? TEXT_LENGTH;
      const create = fields[field] ?? ((_nth: number, most: number) => "€".repeat(most));
      return [create(nth, length)];
    }
  }
};

test("the service stores the largest body of each operation", async () => {
  const ctx = await given({ balance: 1_000_000, plan: "scale" });
  const { world, liveKey: key } = ctx;
  const emails = [createEmail(1), createEmail(2)];
  const { data } = await send(world, "POST /v1/verify/batch", { key, body: { emails } });
  await whenWorked(ctx);
  const fileKey = await givenUpload(ctx, key, formatCsv(emails));
  const fields = { ...FIELDS, file_key: () => fileKey, continues: () => data.job_id };
  const answers: string[] = [];
  let webhook = "";
  for (const { method, path, operation } of listOperations(document)) {
    const schema = operation.requestBody?.content["application/json"]?.schema;
    if (!schema) continue;
    const url = path.replace("{id}", path.includes("webhooks") ? webhook : data.job_id);
    for (const largest of listLargest(schema, fields)) {
      const kept = Object.entries(largest as object).filter(
        ([name]) => !EXCLUDING[path]?.includes(name),
      );
      const body = Object.fromEntries(kept);
      const { statusCode, ...answer } = await send(world, `${method} ${url}`, { key, body });
      if (path === "/v1/webhooks") webhook = answer.data.id;
      const message = answer.error?.message ?? "";
      answers.push(`${method} ${path} ${statusCode} ${message}`);
    }
  }
  await whenWorked(ctx);

  expect(answers.length).toBeGreaterThan(10);
  expect(answers.filter((one) => !/ 20[012] $/.test(one))).toEqual([]);
  expect((await audit(ctx.table, world.now())).violations).toEqual([]);
});
