import { endpoints } from "@mailproof/api/endpoints";
import { getBodyBytesMax } from "@mailproof/api/http/body";
import { type Chances, NASTY_TEXTS } from "./random.ts";
import { drawFitting, type Shaping, SPOILED } from "./shapes.ts";

export type Request = {
  readonly method: string;
  /** As the document writes it. */
  readonly path: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
  /** The JSON in the body, where it is some. */
  readonly json?: unknown;
  readonly how: string;
};

type Keys = { readonly live: string; readonly test: string; readonly scoped: string };

export type Operation = {
  readonly method: string;
  readonly path: string;
  readonly operation: any;
};

export const listOperations = (document: any): Operation[] =>
  Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );

/** A request for one operation: a good one, or one with something wrong. */
export const drawRequest = (shaping: Shaping, keys: Keys, of: Operation): Request => {
  const { document, chances } = shaping;
  const { method, path, operation } = of;
  const parameters = (operation.parameters ?? []).map((one: any) =>
    one.$ref ? document.components.parameters[one.$ref.split("/").at(-1)] : one,
  );
  const { body, json, how, type } = bodyFor(shaping, operation);
  return {
    method,
    path,
    url: `${fillPath(shaping, path, parameters)}${queryFor(shaping, parameters)}`,
    headers: { ...drawCredential(chances, keys), ...drawKeyHeader(chances, parameters), ...type },
    ...(body !== undefined && { body }),
    ...(json !== undefined && { json }),
    how,
  };
};

const fillPath = ({ chances, ...shaping }: Shaping, path: string, parameters: any[]): string => {
  const noun = path.split("/")[2] === "deliverability" ? path.split("/")[3] : path.split("/")[2];
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const { schema } = parameters.find((one) => one.in === "path" && one.name === name);
    const pool = name === "id" ? `${noun}.id` : name;
    const good = String(drawFitting({ ...shaping, chances }, schema, pool));
    const text = chances.sometimes(0.2) ? chances.one(NASTY_TEXTS) : good;
    return encodeURIComponent(text.toWellFormed()) || "x";
  });
};

const queryFor = (shaping: Shaping, parameters: any[]): string => {
  const { chances } = shaping;
  const pairs = parameters
    .filter((one) => one.in === "query" && (one.required || chances.sometimes(0.4)))
    .map(({ name, schema }): [string, string] => [
      name,
      chances.sometimes(0.25)
        ? chances.one([...NASTY_TEXTS, "0", "-1", "1.5", "00007", "9".repeat(40)])
        : String(drawFitting(shaping, schema, name)),
    ]);
  if (chances.sometimes(0.05)) pairs.push([chances.one(["surprise", "__proto__"]), "1"]);
  return pairs.length > 0 ? `?${new URLSearchParams(pairs).toString()}` : "";
};

const drawCredential = ({ one, sometimes }: Chances, keys: Keys): Record<string, string> => {
  if (sometimes(0.05))
    return one<Record<string, string>>([
      {},
      { "x-api-key": "mp_live_0" },
      { authorization: "Basic YTpi" },
      { authorization: "Bearer" },
      { "x-api-key": keys.live, authorization: `Bearer ${keys.test}` },
    ]);
  const key = sometimes(0.03) ? keys.scoped : one([keys.live, keys.live, keys.test]);
  return sometimes(0.5) ? { "x-api-key": key } : { authorization: `Bearer ${key}` };
};

const drawKeyHeader = (
  { one, sometimes, upTo }: Chances,
  parameters: any[],
): Record<string, string> =>
  parameters.some(({ name }) => name === "Idempotency-Key") && sometimes(0.4)
    ? {
        "idempotency-key": one([
          `key-${upTo(2)}`,
          `key-${upTo(2)}`,
          `key-${upTo(2)}`,
          "~".repeat(255),
          "~".repeat(256),
          "a b",
        ]),
      }
    : {};

type Body = {
  readonly body?: string | FormData;
  readonly json?: unknown;
  readonly how: string;
  readonly type?: Record<string, string>;
};

const JSON_TYPE = { "content-type": "application/json" };

const bodyFor = (shaping: Shaping, { requestBody }: any): Body => {
  const { chances } = shaping;
  if (!requestBody) return { how: "without a body" };
  if (requestBody.content["multipart/form-data"] && chances.sometimes(0.2))
    return drawForm(chances);
  const good = drawFitting(shaping, requestBody.content["application/json"].schema);
  if (chances.sometimes(0.5))
    return { body: JSON.stringify(good), json: good, how: "as documented", type: JSON_TYPE };
  if (chances.sometimes(0.01)) return createTooLong(good);
  if (chances.sometimes(0.1)) return drawNoJson(chances, JSON.stringify(good));
  const how = chances.one(Object.keys(SPOILED));
  const json = SPOILED[how]?.(chances, good);
  return { body: JSON.stringify(json) ?? "", json, how, type: JSON_TYPE };
};

/** More than any operation takes. */
const BODY_BYTES_MAX = Math.max(...endpoints.map(getBodyBytesMax));

const createTooLong = (good: unknown): Body => ({
  body: `${JSON.stringify(good)}${" ".repeat(BODY_BYTES_MAX)}`,
  how: "a body over the limit",
  type: JSON_TYPE,
});

const drawNoJson = ({ one }: Chances, good: string): Body =>
  one<Body>([
    { body: "", how: "an empty body", type: JSON_TYPE },
    { body: good.slice(0, -1), how: "half a body", type: JSON_TYPE },
    { body: good, how: "a body of another type", type: { "content-type": "text/plain" } },
    { body: `${good}${good}`, how: "two bodies", type: JSON_TYPE },
    { body: `\ufeff${good}`, how: "a byte order mark", type: JSON_TYPE },
    { body: "[".repeat(20_000), how: "brackets without an end", type: JSON_TYPE },
    { body: `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`, how: "a deep body", type: JSON_TYPE },
    { body: `{"__proto__":${good}}`, how: "a prototype", type: JSON_TYPE },
  ]);

const drawForm = ({ one, sometimes }: Chances): Body => {
  const form = new FormData();
  const file = new Blob([
    one([
      "email\nann@example.com\nbo@example.com\n",
      "",
      "ann@example.com",
      "a,b\n1,2\n",
      "\u0000",
    ]),
  ]);
  if (sometimes(0.9)) form.append("file", file, one(["list.csv", "list.txt", "list.xlsx", "x"]));
  if (sometimes(0.3)) form.append("email_column", one(["email", "a", "0", ...NASTY_TEXTS]));
  if (sometimes(0.3)) form.append("has_header", one(["true", "false", "maybe", ""]));
  if (sometimes(0.1)) form.append(one(["surprise", "file"]), "x");
  return { body: form, how: "a form" };
};
