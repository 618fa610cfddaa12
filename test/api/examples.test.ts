import { EVENT_EXAMPLES, EXAMPLES } from "@mailproof/api/openapi/examples";
import { openapi } from "@mailproof/api/openapi/openapi";
import { wordsFor } from "@mailproof/api/openapi/words";
import {
  COMPONENT_WORDS,
  FIELD_WORDS,
  PARAMETER_WORDS,
} from "@mailproof/api/openapi/words-of-fields";
import { expect, test } from "vitest";
import { recorded, recordedEvents } from "./recorded.ts";

const document: any = openapi("http://127.0.0.1:8787");

test("the examples are what the service answers today", async () => {
  expect(await recorded(), `they are stale: run "npx node scripts/write-openapi.mjs"`).toEqual(
    EXAMPLES,
  );
});

test("the examples of events are what subscribers are sent today", async () => {
  expect(await recordedEvents()).toEqual(EVENT_EXAMPLES);
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

type Found = { readonly place: readonly string[]; readonly schema: any };

/** Every field of a schema, down to where another named shape begins. */
const fieldsOf = (place: readonly string[], schema: any): Found[] => {
  const own = Object.entries<any>(schema?.properties ?? {}).flatMap(([field, one]) => [
    { place: [...place, field], schema: one },
    ...fieldsOf([...place, field], one),
  ]);
  const inside = [schema?.items, ...(schema?.anyOf ?? []), ...(schema?.oneOf ?? [])];
  return [...own, ...inside.filter(Boolean).flatMap((one) => fieldsOf(place, one))];
};

const fields = Object.entries<any>(document.components.schemas)
  .filter(([name]) => !name.endsWith("Error"))
  .flatMap(([name, schema]) => fieldsOf([name], schema));

const parameters = Object.values<any>(document.paths)
  .flatMap((methods) => Object.values<any>(methods))
  .flatMap(({ parameters: all = [] }) => all)
  .filter((one) => one.in !== undefined);

test("every field and every parameter is explained", () => {
  const silent = fields.filter(({ schema }) => !schema.description);

  expect(
    silent.map(({ place }) => place.join(".")),
    "words-of-fields.ts explains none of these",
  ).toEqual([]);
  expect(parameters.filter(({ description }) => !description)).toEqual([]);
});

test("no word explains a field that is not there", () => {
  const places = new Set(fields.flatMap(({ place }) => [place.at(-1), place.slice(-2).join(".")]));
  const asked = new Set(parameters.map((one) => `${one.in}.${one.name}`));
  const names = Object.keys(document.components.schemas);

  expect(Object.keys(FIELD_WORDS).filter((key) => !places.has(key))).toEqual([]);
  expect(Object.keys(PARAMETER_WORDS).filter((key) => !asked.has(key))).toEqual([]);
  expect(Object.keys(COMPONENT_WORDS).filter((key) => !names.includes(key))).toEqual([]);
});

test("what a field means in one shape goes before what it means elsewhere", () => {
  expect(wordsFor(["FindEmailRequest", "domain"])).toMatch(/^The company's mail domain/);
  expect(wordsFor(["Monitor", "domain"])).toMatch(/^The domain/);
});
