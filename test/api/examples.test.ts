import { EVENT_EXAMPLES, EXAMPLES } from "@mailproof/api/openapi/examples";
import { openapi } from "@mailproof/api/openapi/openapi";
import { expect, test } from "vitest";
import { recordEvents, recordExamples } from "./recorded.ts";

const document: any = openapi("http://127.0.0.1:8787");

test("the examples are what the service answers today", async () => {
  expect(
    await recordExamples(),
    `they are stale: run "npx node scripts/write-examples.mjs"`,
  ).toEqual(EXAMPLES);
});

test("the examples of events are what subscribers are sent today", async () => {
  expect(await recordEvents()).toEqual(EVENT_EXAMPLES);
  expect(Object.keys(document.webhooks).toSorted()).toEqual(Object.keys(EVENT_EXAMPLES).toSorted());
});

test("every operation has an example of each success, and none of a failure", () => {
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

test("every field and every parameter is explained", () => {
  const silent = fields.filter(({ schema }) => !schema.description);

  expect(
    silent.map(({ fieldPath }) => fieldPath.join(".")),
    "their schemas do not describe these",
  ).toEqual([]);
  expect(parameters.filter(({ description }) => !description)).toEqual([]);
});

test("descriptions are plain sentences", () => {
  const texts = [...fields.map(({ schema }) => schema), ...parameters].map(
    ({ description }) => description as string,
  );

  expect(texts.length).toBeGreaterThan(400);
  expect(texts.filter((text) => !/^[A-Z`].*\.$|^\w+: .*\.$/s.test(text))).toEqual([]);
});
