import { type Chances, drawValue, NASTY_NUMBERS, NASTY_TEXTS } from "./random.ts";

// Values from the JSON Schemas of the document, and from nothing else, but for where a text has a meaning.

export type Pools = ReadonlyMap<string, readonly string[]>;

export type Shaping = {
  readonly document: any;
  readonly chances: Chances;
  /** Texts that make sense under a field's name: addresses, domains, ids that the service gave out. */
  readonly pools: Pools;
};

export const resolveSchema = (document: any, schema: any): any => {
  const name = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref ?? "")?.[1];
  if (name === undefined) return schema;
  return {
    ...resolveSchema(document, document.components.schemas[name]),
    ...schema,
    $ref: undefined,
  };
};

/** One that fits. */
export const drawFitting = (shaping: Shaping, sent: any, field = ""): unknown => {
  const { document, chances } = shaping;
  const schema = resolveSchema(document, sent);
  const options = schema.oneOf ?? schema.anyOf;
  if (options) return drawFitting(shaping, chances.one<any>(options), field);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return chances.one(schema.enum);
  switch ([schema.type].flat()[0]) {
    case "object":
      return Object.fromEntries(
        Object.entries<any>(schema.properties ?? {})
          .filter(([name]) => schema.required?.includes(name) || chances.sometimes(0.4))
          .map(([name, one]) => [name, drawFitting(shaping, one, name)]),
      );
    case "array": {
      const [least, most] = [schema.minItems ?? 0, Math.min(schema.maxItems ?? 4, 4)];
      const length = least + chances.upTo(Math.max(0, most - least));
      return Array.from({ length }, () => drawFitting(shaping, schema.items, singular(field)));
    }
    case "boolean":
      return chances.sometimes(0.5);
    case "integer":
    case "number":
      return drawNumber(chances, schema);
    default:
      return drawText(shaping, schema, field);
  }
};

const singular = (field: string): string => field.replace(/s$/, "");

const drawNumber = ({ one, upTo }: Chances, { minimum = 0, maximum = minimum + 1_000 }: any) =>
  one([minimum, maximum, minimum + upTo(maximum - minimum)]);

const drawText = ({ chances, pools }: Shaping, schema: any, field: string): string => {
  const pool = pools.get(field);
  if (pool && pool.length > 0) return chances.one(pool);
  const { minLength = 0, maxLength = 40 } = schema;
  const length = chances.one([Math.max(1, minLength), maxLength, minLength + chances.upTo(20)]);
  return "x".repeat(Math.min(length, maxLength));
};

type Path = readonly (string | number)[];

/** Where something stands in a value, from the outside in. */
const listPaths = (value: unknown, path: Path = []): Path[] => {
  if (typeof value !== "object" || value === null) return [path];
  const inside = Object.entries(value).flatMap(([name, one]) => listPaths(one, [...path, name]));
  return [path, ...inside];
};

const changeAt = (value: any, [first, ...inner]: Path, change: (old: unknown) => unknown): any => {
  if (first === undefined) return change(value);
  const copy = Array.isArray(value) ? [...value] : { ...value };
  copy[first] = changeAt(value[first], inner, change);
  return copy;
};

/** The ways to spoil a value. What comes out may still fit: that is for a judge to say. */
export const SPOILED: Readonly<Record<string, (chances: Chances, value: any) => unknown>> = {
  "a field of another kind": (chances, value) =>
    changeAt(value, chances.one(listPaths(value)), () => drawValue(chances)),
  "a nasty text": (chances, value) =>
    changeAt(value, chances.one(listPaths(value)), () => chances.one(NASTY_TEXTS)),
  "a huge number": (chances, value) =>
    changeAt(value, chances.one(listPaths(value)), () => chances.one(NASTY_NUMBERS)),
  "an unknown field": (chances, value) => ({
    ...value,
    [chances.one(["surprise", "Email", "__proto__x", "constructor", "", "a.b", "💥"])]:
      drawValue(chances),
  }),
  "a field too few": (chances, value) => {
    const fields = Object.keys(value ?? {});
    const gone = fields.length > 0 ? chances.one(fields) : "";
    return Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => name !== gone));
  },
  "a text of a length on the edge": (chances, value) =>
    changeAt(value, chances.one(listPaths(value)), () =>
      "é".repeat(
        chances.one([63, 64, 65, 199, 200, 201, 254, 255, 256, 320, 999, 1_000, 1_001, 2_001]),
      ),
    ),
  "something else than an object": (chances) => drawValue(chances),
};
