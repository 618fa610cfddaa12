import { componentsOf } from "@mailproof/api/openapi/components";
import { type Place, schemaWriter } from "@mailproof/api/openapi/schema";
import { wordsFor } from "@mailproof/api/openapi/words";
import type { GenericSchema } from "valibot";

// Valibot schemas as TypeScript. What no endpoint uses yet is an error here, and not an `unknown` that nobody notices.

/** What is sent is typed by what a schema takes, what is answered by what it gives. */
export type Side = "input" | "output";

type Entries = Readonly<Record<string, GenericSchema>>;

/** Schemas that have a name of their own, by identity. */
export type Named = ReadonlyMap<GenericSchema, string>;

/** How types are written: for which side, and which of them by their name. */
export type Context = { readonly side: Side; readonly named: Named };

/** The parts of all kinds of schema, as they stand in them. */
type Parts = {
  readonly type: string;
  readonly pipe?: readonly (GenericSchema | { readonly kind: string; readonly type: string })[];
  readonly entries?: Entries;
  readonly options?: readonly (string | GenericSchema)[];
  readonly literal?: unknown;
  readonly item?: GenericSchema;
  readonly key?: GenericSchema;
  readonly value?: GenericSchema;
  readonly wrapped?: GenericSchema;
};

export const partsOf = (schema: GenericSchema): Parts => schema as unknown as Parts;

/** The names of the OpenAPI document: a field's description is found by the component that it stands in. */
const COMPONENTS: ReadonlyMap<unknown, string> = componentsOf();

/** The type of a schema that stands at a place of the OpenAPI document. */
export const typeOf = (schema: GenericSchema, context: Context, at: Place): string => {
  const name = context.named.get(schema);
  if (name !== undefined) return name;
  const component = COMPONENTS.get(schema);
  const place = component === undefined ? at : [component];
  const parts = partsOf(essence(schema));
  const inner = (one: GenericSchema | undefined) => typeOf(one as GenericSchema, context, place);
  switch (parts.type) {
    case "string":
    case "number":
    case "boolean":
    case "null":
    case "unknown":
      return parts.type;
    case "literal":
      return JSON.stringify(parts.literal);
    case "picklist":
      return (parts.options ?? []).map((option) => JSON.stringify(option)).join(" | ");
    case "nullable":
    case "nullish":
      return `${inner(parts.wrapped)} | null`;
    case "optional":
      return inner(parts.wrapped);
    case "array":
      return `${context.side === "input" ? "readonly " : ""}(${inner(parts.item)})[]`;
    case "record":
      return `Record<${inner(parts.key)}, ${inner(parts.value)}>`;
    case "union":
    case "variant":
      return (parts.options ?? []).map((option) => inner(option as GenericSchema)).join(" | ");
    case "object":
    case "strict_object":
      return objectOf(parts.entries ?? {}, context, place);
    default:
      throw new Error(`no type for a schema of ${parts.type}`);
  }
};

/** One that has everything of another with a name, and more, is said as that other and the rest. */
const objectOf = (entries: Entries, context: Context, place: Place): string => {
  const [base, name] = largest(
    [...context.named].filter(([schema]) => isWithin(partsOf(schema).entries ?? {}, entries)),
  ) ?? [undefined, undefined];
  const known = base ? (partsOf(base).entries ?? {}) : {};
  const rest = Object.fromEntries(Object.entries(entries).filter(([field]) => !(field in known)));
  const own = `{\n${fieldsOf(rest, context, place)}\n}`;
  return name === undefined ? own : `${name} & ${own}`;
};

const isWithin = (few: Entries, many: Entries): boolean =>
  Object.keys(few).length < Object.keys(many).length &&
  Object.entries(few).every(([field, schema]) => many[field] === schema);

const largest = (found: readonly (readonly [GenericSchema, string])[]) =>
  found.toSorted(([a], [b]) => sizeOf(b) - sizeOf(a))[0];

const sizeOf = (schema: GenericSchema): number => Object.keys(partsOf(schema).entries ?? {}).length;

export const fieldsOf = (entries: Entries, context: Context, place: Place): string =>
  Object.entries(entries)
    .map(([name, schema]) => {
      const here = [...place, name];
      const isOptional = mayBeLeftOut(schema);
      const mark = isOptional ? "?" : "";
      // Whoever sends may say undefined; what is answered is there or not.
      const orNot = isOptional && context.side === "input" ? " | undefined" : "";
      return `${describe(here, schema)}\n${name}${mark}: ${typeOf(schema, context, here)}${orNot};`;
    })
    .join("\n");

/** The description of a field, which editors show on hover: what its values mean, else what the field holds. */
export const describe = (place: Place, schema: GenericSchema): string => {
  const component = COMPONENTS.get(partsOf(schema).wrapped ?? schema);
  const words = (component && wordsFor([component])) ?? wordsFor(place);
  if (words === undefined)
    throw new Error(`openapi/words-of-fields.ts does not describe ${place.join(".")}`);
  return `/** ${words} */`;
};

/** A query is text on the wire; to a caller, what stands for a number or a boolean is one. */
export const queryTypeOf = (schema: GenericSchema): "number" | "boolean" | undefined => {
  const { write } = schemaWriter(new Map(), () => undefined);
  const { type, default: otherwise } = write(schema);
  if (type === "integer") return "number";
  return otherwise === "true" || otherwise === "false" ? "boolean" : undefined;
};

export const mayBeLeftOut = (schema: GenericSchema): boolean =>
  ["optional", "nullish"].includes(partsOf(schema).type);

/** A pipe is known by the last schema in it that says something, before its value becomes one of ours. */
const essence = (schema: GenericSchema): GenericSchema => {
  const { pipe } = partsOf(schema);
  if (!pipe) return schema;
  const end = pipe.findIndex(({ type }) => type === "transform");
  const telling = (end === -1 ? pipe : pipe.slice(0, end)).filter(
    (one): one is GenericSchema => one.kind === "schema" && one.type !== "custom",
  );
  const found = telling.at(-1);
  if (!found) throw new Error("a pipe without a schema that can be told");
  return essence(found);
};
