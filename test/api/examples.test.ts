import { EVENT_EXAMPLES, EXAMPLES } from "@mailproof/api/openapi/examples";
import { openapi } from "@mailproof/api/openapi/openapi";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { recordEvents, recordExamples } from "./recorded.ts";

const document: any = openapi("http://127.0.0.1:8787");

test("the examples equal the service's responses today", async () => {
  expect(
    await recordExamples(),
    `they are stale: run "npx node scripts/write.ts examples"`,
  ).toEqual(EXAMPLES);
});

test("the examples of events equal the events sent today", async () => {
  expect(await recordEvents()).toEqual(EVENT_EXAMPLES);
  expect(Object.keys(document.webhooks).toSorted()).toEqual(Object.keys(EVENT_EXAMPLES).toSorted());
});

test("every operation has an example for each status of success, and no example of a failure", () => {
  const shown = new Set(EXAMPLES.map(({ route, status }) => `${route} ${status}`));
  const promised = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).flatMap(([method, { responses }]) =>
      Object.keys(responses)
        .filter((status) => status.startsWith("2"))
        .map((status) => `${method.toUpperCase()} ${path} ${status}`),
    ),
  );

  // To watch a domain that is watched already is answered in just the same shape.
  expect(
    promised.filter((one) => !shown.has(one)),
    "test/api/recorded.ts asks for none of these",
  ).toEqual(["POST /v1/deliverability/monitors 200"]);
  expect(EXAMPLES.filter(({ status }) => status >= 400)).toEqual([]);
});

type Found = { readonly fieldPath: readonly string[]; readonly schema: any };

/** Every field of a schema, down to where another named shape begins. */
const getFields = (path: readonly string[], schema: any): Found[] => {
  const own = Object.entries<any>(schema?.properties ?? {}).flatMap(([field, one]) => [
    { fieldPath: [...path, field], schema: one },
    ...getFields([...path, field], one),
  ]);
  const inside = [schema?.items, ...(schema?.anyOf ?? []), ...(schema?.oneOf ?? [])];
  return [...own, ...inside.filter(Boolean).flatMap((one) => getFields(path, one))];
};

const fields = Object.entries<any>(document.components.schemas)
  .filter(([name]) => !name.endsWith("Error"))
  .flatMap(([name, schema]) => getFields([name], schema));

const parameters = Object.values<any>(document.paths)
  .flatMap((methods) => Object.values<any>(methods))
  .flatMap(({ parameters: all = [] }) => all)
  .filter((one) => one.in !== undefined);

test("every field and every parameter has a description", () => {
  const silent = fields.filter(({ schema }) => !schema.description);

  expect(
    silent.map(({ fieldPath }) => fieldPath.join(".")),
    "their schemas do not describe these",
  ).toEqual([]);
  expect(parameters.filter(({ description }) => !description)).toEqual([]);
});

test("descriptions consist of plain sentences", () => {
  const texts = [...fields.map(({ schema }) => schema), ...parameters].map(
    ({ description }) => description as string,
  );

  expect(texts.length).toBeGreaterThan(400);
  expect(texts.filter((text) => !/^[A-Z`].*\.$|^\w+: .*\.$/s.test(text))).toEqual([]);
});

// The types and formats of the document, held against its recorded examples.

const resolved = (schema: any): any => {
  const name = /^#\/components\/(?:schemas|parameters)\/(\w+)$/.exec(schema.$ref ?? "")?.[1];
  if (name === undefined) return schema;
  const { schemas, parameters } = document.components;
  return { ...(schemas[name] ?? parameters[name]), ...schema, $ref: undefined };
};

/** A field with its schema, and one value of it from an example. */
type Seen = { readonly fieldPath: string; readonly schema: any; readonly value: unknown };

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, "openapi");
const fits = (schema: any, value: unknown): boolean =>
  ajv.validate({ ...schema, components: document.components }, value);

/** Every field of a value, down to the leaves. Of a choice of schemas, those that the value fits. */
const listSeen = (sent: any, value: any, path: readonly string[]): Seen[] => {
  const schema = resolved(sent);
  const options = (schema.anyOf ?? schema.oneOf ?? []).filter((one: any) => fits(one, value));
  const own = [{ fieldPath: path.slice(-2).join("."), schema, value }];
  if (typeof value !== "object" || value === null)
    return [...own, ...options.flatMap((one: any) => listSeen(one, value, path))];
  const inside = Object.entries<any>(value).flatMap(([name, one]) => {
    const field = Array.isArray(value) ? schema.items : schema.properties?.[name];
    const further = Array.isArray(value) ? path : [...path, name];
    return field ? listSeen(field, one, further) : [];
  });
  return [...inside, ...options.flatMap((one: any) => listSeen(one, value, path))];
};

const JSON_TYPE = "application/json";

const seen: readonly Seen[] = [
  ...EXAMPLES.flatMap(({ route, status, path, query, request, answer }) => {
    const [method = "", pattern = ""] = route.split(" ");
    const operation = document.paths[pattern][method.toLowerCase()];
    const parameters = (operation.parameters ?? []).map(resolved);
    return [
      ...Object.entries({ ...path, ...query }).flatMap(([name, value]) => {
        const { schema } = parameters.find((one: any) => one.name === name);
        return listSeen(schema, value, [route, name]);
      }),
      ...(request === undefined
        ? []
        : listSeen(operation.requestBody.content[JSON_TYPE].schema, request, [route])),
      ...listSeen(operation.responses[status].content[JSON_TYPE].schema, answer, [route]),
    ];
  }),
  ...Object.entries(EVENT_EXAMPLES).flatMap(([event, example]) =>
    listSeen(document.webhooks[event].post.requestBody.content[JSON_TYPE].schema, example, [event]),
  ),
];

/** Every schema in a part of the document, wherever it stands. */
const listSchemas = (
  part: any,
  path: readonly string[] = [],
): { fieldPath: string; schema: any }[] =>
  typeof part !== "object" || part === null
    ? []
    : [
        { fieldPath: path.join("."), schema: part },
        ...Object.entries(part)
          .filter(([name]) => name !== "examples" && name !== "example")
          .flatMap(([name, one]) => listSchemas(one, [...path, name])),
      ];

test("every number is whole, an amount of credits in steps of 0.5, or a share of 1", () => {
  const numbers = listSchemas(document).filter(({ schema }) =>
    [schema.type].flat().includes("number"),
  );
  const isCredits = ({ schema }: { schema: any }) => schema.multipleOf === 0.5;
  const isShare = ({ schema }: { schema: any }) => schema.minimum === 0 && schema.maximum === 1;

  expect(numbers.filter(isCredits).length).toBeGreaterThan(10);
  expect(numbers.filter(isShare).length).toBeGreaterThan(4);
  expect(numbers.filter((one) => !isCredits(one) && !isShare(one))).toEqual([]);
});

test("every amount of credits in an example is a multiple of 0.5", () => {
  const amounts = seen.filter(({ fieldPath }) => /(?:^|\.)credits_\w+$/.test(fieldPath));
  const leaves = amounts.filter(({ value }) => typeof value === "number");

  expect(leaves.length).toBeGreaterThan(10);
  expect(leaves.filter(({ schema }) => schema.multipleOf !== 0.5)).toEqual([]);
});

const EMAIL = /^[^@\s]+@[\w-]+(?:\.[\w-]+)+$/;
const KINDS: readonly (readonly [kind: RegExp, formats: readonly string[]])[] = [
  [/^\d{4}-\d{2}-\d{2}T/, ["date-time"]],
  [/^\d{4}-\d{2}-\d{2}$/, ["date"]],
  [/^https?:\/\//, ["uri"]],
  [/^\d{1,3}(?:\.\d{1,3}){3}$/, ["ipv4"]],
  [EMAIL, ["email", "idn-email"]],
];

/** Texts that look alike in every example, and may be something else. */
const MAY_BE_OTHERWISE: Readonly<Record<string, string>> = {
  "POST /v1/verify.email": "text that is no address has a verdict, too",
  "POST /v1/verify/form.email": "text that is no address has a class, too",
  "data.email": "a verdict names what was sent, which may be no address",
  "results.email": "a verdict names what was sent, which may be no address",
  "rows.email": "a verdict names what was sent, which may be no address",
  "rows.submitted": "a row may hold any text",
  "POST /v1/verify/batch.emails": "text that is no address has a verdict, too",
  "DELETE /v1/data.email": "a list may hold text that is no address, and it is erased, too",
  "public.origins": "an origin is compared as text, and a URI may get a slash",
  "envelope.ip": "a client may have an IPv6 address",
  "envelope.mail_from": "the null reverse-path is empty",
  "from.address": "a mail may have any text there",
  "mx_records.ip": "a host may have an IPv6 address only",
  "sources.ip": "mail may be sent over IPv6",
  "unaligned_sources.ip": "mail may be sent over IPv6",
};

test("a text that every example fills with a date, time, address or URL declares its format", () => {
  const texts = seen.filter(
    ({ schema, value }) => typeof value === "string" && [schema.type].flat().includes("string"),
  );
  const byPath = Map.groupBy(texts, ({ fieldPath }) => fieldPath);
  const wrong = [...byPath].flatMap(([fieldPath, all]) =>
    KINDS.filter(
      ([kind, formats]) =>
        all.every(({ value }) => kind.test(String(value))) &&
        !all.some(({ schema }) => schema.const !== undefined) &&
        !all.every(({ schema }) => formats.includes(schema.format)),
    ).map(() => fieldPath),
  );

  expect(byPath.size).toBeGreaterThan(100);
  expect(new Set(wrong)).toEqual(new Set(Object.keys(MAY_BE_OTHERWISE)));
});

test("the document declares a parameter that ignores case, and lists its names as generators read them", () => {
  const { parameters } = document.paths["/v1/jobs/{id}/download"].get;
  const { schema, description } = parameters.find((one: any) => one.name === "filter");

  expect(schema).toMatchObject({ type: "string", default: "all" });
  expect(description).toMatch(/all, valid, .*safe_to_send\..*Case does not matter\./);
});
