import { descriptionOf, schemaWriter, withoutDescription } from "@mailproof/api/openapi/schema";
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

export const typeOf = (schema: GenericSchema, context: Context): string => {
  const name = context.named.get(schema) ?? context.named.get(withoutDescription(schema));
  if (name !== undefined) return name;
  const parts = partsOf(essence(schema));
  const inner = (one: GenericSchema | undefined) => typeOf(one as GenericSchema, context);
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
      return objectOf(parts.entries ?? {}, context);
    default:
      throw new Error(`no type for a schema of ${parts.type}`);
  }
};

/** One that has everything of another with a name, and more, is said as that other and the rest. */
const objectOf = (entries: Entries, context: Context): string => {
  const [base, name] = largest(
    [...context.named].filter(([schema]) => isWithin(partsOf(schema).entries ?? {}, entries)),
  ) ?? [undefined, undefined];
  const known = base ? (partsOf(base).entries ?? {}) : {};
  const rest = Object.fromEntries(Object.entries(entries).filter(([field]) => !(field in known)));
  const own = `{\n${fieldsOf(rest, context)}\n}`;
  return name === undefined ? own : `${name} & ${own}`;
};

const isWithin = (few: Entries, many: Entries): boolean =>
  Object.keys(few).length < Object.keys(many).length &&
  Object.entries(few).every(([field, schema]) => many[field] === schema);

const largest = (found: readonly (readonly [GenericSchema, string])[]) =>
  found.toSorted(([a], [b]) => sizeOf(b) - sizeOf(a))[0];

const sizeOf = (schema: GenericSchema): number => Object.keys(partsOf(schema).entries ?? {}).length;

export const fieldsOf = (entries: Entries, context: Context): string =>
  Object.entries(entries)
    .map(([name, schema]) => {
      const isOptional = mayBeLeftOut(schema);
      const mark = isOptional ? "?" : "";
      // Whoever sends may say undefined; what is answered is there or not.
      const orNot = isOptional && context.side === "input" ? " | undefined" : "";
      return `${describe(name, schema)}\n${name}${mark}: ${typeOf(schema, context)}${orNot};`;
    })
    .join("\n");

/** The description of a field, which editors show on hover: what its values mean, else what the field holds. */
export const describe = (name: string, schema: GenericSchema): string => {
  const shape = withoutDescription(schema);
  const text = descriptionOf(partsOf(shape).wrapped ?? shape) ?? descriptionOf(schema);
  if (text === undefined) throw new Error(`the field ${name} has no description`);
  return `/** ${text} */`;
};

/** A query is text on the wire; to a caller, what stands for a number or a boolean is one. */
export const queryTypeOf = (schema: GenericSchema): "number" | "boolean" | undefined => {
  const { write } = schemaWriter(new Map());
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
