import { endpoints } from "@mailproof/api/endpoints";
import { parse } from "@mailproof/api/http/parse";
import { EXAMPLES } from "@mailproof/api/openapi/examples";
import { openapi } from "@mailproof/api/openapi/openapi";
import { expect, test } from "vitest";

// Clients in some languages send null for every field that is not set. The document says which fields take it.

const document: any = openapi("http://127.0.0.1:8787");

const resolved = (schema: any): any => {
  const name = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref ?? "")?.[1];
  return name === undefined ? schema : document.components.schemas[name];
};

/** Fields of which the contract says that null is refused. */
const NULL_IS_REFUSED = ["sending_ip", "refresh"];

type Path = readonly (string | number)[];
type Field = { readonly path: Path; readonly schema: any };

/** Every field of a body that may be left out, where it stands in this example. */
const listOptional = (sent: any, value: any, path: Path = []): Field[] => {
  const schema = resolved(sent);
  const options = schema.oneOf ?? schema.anyOf;
  if (options) {
    const chosen = options.find((one: any) => {
      const { properties = {} } = resolved(one);
      return properties.action === undefined || properties.action.const === value?.action;
    });
    return listOptional(chosen, value, path);
  }
  if (schema.items)
    return (value ?? []).flatMap((one: any, at: number) =>
      listOptional(schema.items, one, [...path, at]),
    );
  return Object.entries<any>(schema.properties ?? {}).flatMap(([name, field]) => {
    const own = { path: [...path, name], schema: field };
    // What has a required field is left out as a whole, or the example has it.
    const isLeftOut = value?.[name] === undefined && resolved(field).required?.length > 0;
    const inside = isLeftOut ? [] : listOptional(field, value?.[name], own.path);
    return schema.required?.includes(name) ? inside : [own, ...inside];
  });
};

const changed = (value: any, [first, ...inner]: Path, to: unknown): any => {
  if (first === undefined) return to;
  if (Array.isArray(value))
    return value.with(Number(first), changed(value[Number(first)], inner, to));
  return { ...value, [first]: changed(value?.[first], inner, to) };
};

const bodies = EXAMPLES.filter(({ request }) => request !== undefined).map((example) => {
  const { route, request } = example;
  const [method = "", path = ""] = route.split(" ");
  const { requestBody } = document.paths[path][method.toLowerCase()];
  const fields = listOptional(requestBody.content["application/json"].schema, request);
  return { ...example, fields };
});

const fields = bodies.flatMap(({ route, name, path, query, request, fields: all }) =>
  all.map(({ path: fieldPath, schema }) => ({
    what: `${name}.${fieldPath.join(".")}`,
    endpoint: endpoints.find((one) => one.route === route),
    sent: { path, query, form: null },
    request,
    fieldPath,
    schema,
  })),
);

const takesNull = ({ type, anyOf = [] }: any): boolean =>
  [type].flat().includes("null") || anyOf.some((one: any) => one.type === "null");

test("the operations declare optional fields, even within other fields and within lists", () => {
  const names = new Set(
    fields.map(({ fieldPath }) => fieldPath.filter((one) => one !== 0).join(".")),
  );

  expect(names).toContain("options");
  expect(names).toContain("options.deep_verify");
  expect(names).toContain("events.user_agent");
  expect(names).toContain("email_column");
  expect(names).toContain("sending_ip");
});

const isRefused = ({ fieldPath }: { readonly fieldPath: Path }): boolean =>
  NULL_IS_REFUSED.includes(String(fieldPath.at(-1)));

const parsedWith = (
  { endpoint, sent, request, fieldPath }: (typeof fields)[number],
  to: unknown,
) => {
  if (!endpoint) throw new Error("an example of no endpoint");
  return parse(endpoint, { ...sent, body: changed(request, fieldPath, to) });
};

test.each(fields.filter((field) => !isRefused(field)))(
  "a null in $what counts as an absent field, and the document allows it",
  (field) => {
    expect(takesNull(field.schema)).toBe(true);
    expect(parsedWith(field, null)).toEqual(parsedWith(field, undefined));
  },
);

test.each(fields.filter(isRefused))(
  "the endpoint and the document refuse a null in $what",
  (field) => {
    expect(takesNull(field.schema)).toBe(false);
    expect(() => parsedWith(field, null)).toThrow(/must be/);
  },
);
