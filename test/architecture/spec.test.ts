import { existsSync } from "node:fs";
import { endpoints } from "@mailproof/api/endpoints";
import { toFileName } from "@mailproof/api/http/endpoint";
import { STATUS } from "@mailproof/api/http/http-failure";
import { ADDITIONS } from "@mailproof/api/openapi/additions";
import { openapi } from "@mailproof/api/openapi/openapi";
import { docsPage } from "@mailproof/docs-site/page";
import { expect, test } from "vitest";
import { CONTRACT, CONTRACT_EVENTS, CONTRACT_FIELDS, NOT_BUILT_YET, OURS } from "./spec.ts";

const SPEC = [...CONTRACT, ...OURS];
const document = openapi("http://127.0.0.1:8787");
const routes = endpoints.map(({ route }) => route as string);

test("the contract has 21 operations, and every other endpoint says why it is there", () => {
  const ofContract = endpoints.filter(({ addition }) => addition === undefined);
  const reasons = endpoints.flatMap(({ addition = [] }) => addition);

  expect(ofContract.map(({ route }) => route).toSorted()).toEqual(
    CONTRACT.map(({ route }) => route).toSorted(),
  );
  expect(ofContract).toHaveLength(21);
  expect(reasons.filter((why) => !/^[A-Z].{20,}\.$/.test(why))).toEqual([]);
});

/** Of an operation of the document: its parameters, and the fields of its bodies and of their options. */
const listFields = (operation: any): readonly string[] => {
  const {
    components,
    parameters = [],
    requestBody,
  } = { components: document.components as any, ...operation };
  const resolve = (one: any) =>
    one.$ref
      ? one.$ref
          .split("/")
          .slice(2)
          .reduce((part: any, name: string) => part[name], components)
      : one;
  const listIn = (schema: any): string[] => {
    const { oneOf, anyOf, properties = {} } = resolve(schema);
    if (oneOf ?? anyOf) return (oneOf ?? anyOf).flatMap(listIn);
    return Object.entries(properties).flatMap(([name, one]) => [name, ...listIn(one)]);
  };
  const bodies = Object.values<any>(requestBody?.content ?? {});
  return [
    ...parameters.map((one: any) => resolve(one).name),
    ...bodies.flatMap(({ schema }) => listIn(schema)),
  ];
};

test("what the contract's operations take and send more than it is named on the page about it", () => {
  const ofContract = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter((operation) => operation["x-addition"] === undefined);
  const names = [...ofContract.flatMap(listFields), ...Object.keys(document.webhooks)];
  const own = names.filter(
    (name) => ![...CONTRACT_FIELDS, ...CONTRACT_EVENTS, "Idempotency-Key"].includes(name),
  );
  const text = ADDITIONS.map(({ what }) => what).join(" ");

  expect(new Set(own).size).toBeGreaterThan(8);
  expect([...new Set(own)].filter((name) => !new RegExp(`\`${name}[\`=]`).test(text))).toEqual([]);
});

test("the manual and the document show at a glance which operations are not the contract's", () => {
  const page = docsPage("http://127.0.0.1:8787");
  const side = page.split("</nav>", 1)[0] ?? "";
  const seen = endpoints.map(({ id, route }) => {
    const [method = "", path = ""] = route.split(" ");
    const isMarked = new RegExp(`href="#${id}"><span[^>]*>[A-Z]+</span>[^<]*<b class="more"`);
    return {
      id,
      inDocument: document.paths[path]?.[method.toLowerCase()]?.["x-addition"],
      isMarked: isMarked.test(side),
      isListed: page.includes(`<a href="#${id}">${route}</a>`),
    };
  });

  expect(seen).toEqual(
    endpoints.map(({ id, addition }) => ({
      id,
      inDocument: addition,
      isMarked: addition !== undefined,
      isListed: addition !== undefined,
    })),
  );
});

test("every endpoint is an operation of the contract or ours", () => {
  const unlisted = routes.filter((route) => !SPEC.some((operation) => operation.route === route));

  expect(unlisted, "test/architecture/spec.ts does not list these").toEqual([]);
});

test("an operation is either built or listed as not built yet", () => {
  const missing = SPEC.map(({ route }) => route).filter((route) => !routes.includes(route));

  expect(missing).toEqual([...NOT_BUILT_YET]);
});

test.each(endpoints.map(toFileName))("test/story/%s.test.ts tells of the endpoint", (name) => {
  expect(existsSync(`test/story/${name}.test.ts`)).toBe(true);
});

test.each(SPEC)(
  "$route is for $access and declares its statuses",
  ({ route, access, statuses }) => {
    const endpoint = endpoints.find((one) => one.route === route);
    const declared = [
      ...(endpoint?.answers ?? []),
      ...(endpoint?.errors ?? []).map((code) => STATUS[code]),
    ];

    expect(endpoint?.access).toBe(access);
    expect(statuses.filter((status) => !declared.includes(status as 200))).toEqual([]);
  },
);
