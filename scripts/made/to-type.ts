import {
  createSchemaWriter,
  getDescription,
  withoutDescription,
} from "@mailproof/api/openapi/schema";
import { getParts, mayBeLeftOut } from "@mailproof/docs-site/clients/operations";
import type { GenericSchema } from "valibot";

// Valibot schemas as TypeScript. What no endpoint uses yet is an error here, and not a silent `unknown`.

/** What is sent is typed by what a schema takes, what is answered by what it gives. */
export type TypeSide = "input" | "output";

type Entries = Readonly<Record<string, GenericSchema>>;

/** Schemas that have a name of their own, by identity. */
export type NamedSchemas = ReadonlyMap<GenericSchema, string>;

/** How types are written: for which side, and which of them by their name. */
export type TypeContext = { readonly side: TypeSide; readonly named: NamedSchemas };

export const toType = (schema: GenericSchema, context: TypeContext): string => {
  const name = context.named.get(schema) ?? context.named.get(withoutDescription(schema));
  if (name !== undefined) return name;
  const parts = getParts(getInnerSchema(schema));
  const inner = (one: GenericSchema | undefined) => toType(one as GenericSchema, context);
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
      return toObjectType(parts.entries ?? {}, context);
    default:
      throw new Error(`no type for a schema of ${parts.type}`);
  }
};

/** One that has everything of another with a name, and more, is written as that other and the remaining fields. */
const toObjectType = (entries: Entries, context: TypeContext): string => {
  const [base, name] = findLargest(
    [...context.named].filter(([schema]) => isWithin(getParts(schema).entries ?? {}, entries)),
  ) ?? [undefined, undefined];
  const baseFields = base ? (getParts(base).entries ?? {}) : {};
  const others = Object.fromEntries(
    Object.entries(entries).filter(([field]) => !(field in baseFields)),
  );
  const own = `{\n${formatFields(others, context)}\n}`;
  return name === undefined ? own : `${name} & ${own}`;
};

const isWithin = (few: Entries, many: Entries): boolean =>
  Object.keys(few).length < Object.keys(many).length &&
  Object.entries(few).every(([field, schema]) => many[field] === schema);

const findLargest = (found: readonly (readonly [GenericSchema, string])[]) =>
  found.toSorted(([a], [b]) => countFields(b) - countFields(a))[0];

const countFields = (schema: GenericSchema): number =>
  Object.keys(getParts(schema).entries ?? {}).length;

export const formatFields = (entries: Entries, context: TypeContext): string =>
  Object.entries(entries)
    .map(([name, schema]) => {
      const isOptional = mayBeLeftOut(schema);
      const mark = isOptional ? "?" : "";
      // A request may have undefined; a response has the field or not.
      const orNot = isOptional && context.side === "input" ? " | undefined" : "";
      return `${formatDescription(name, schema)}\n${name}${mark}: ${toType(schema, context)}${orNot};`;
    })
    .join("\n");

/** The description of a field, which editors show on hover: what its values mean, else what the field holds. */
export const formatDescription = (name: string, schema: GenericSchema): string => {
  const shape = withoutDescription(schema);
  const text = getDescription(getParts(shape).wrapped ?? shape) ?? getDescription(schema);
  if (text === undefined) throw new Error(`the field ${name} has no description`);
  return `/** ${text} */`;
};

/** A query is text on the wire; to a caller, a number or a boolean in it is one. */
export const getQueryType = (schema: GenericSchema): "number" | "boolean" | undefined => {
  const { write } = createSchemaWriter(new Map());
  const { type, default: otherwise } = write(schema);
  if (type === "integer") return "number";
  return otherwise === "true" || otherwise === "false" ? "boolean" : undefined;
};

/** A pipe is known by the last schema in it that says something, before its value becomes one of ours. */
const getInnerSchema = (schema: GenericSchema): GenericSchema => {
  const { pipe } = getParts(schema);
  if (!pipe) return schema;
  const end = pipe.findIndex(({ type }) => type === "transform");
  const schemas = (end === -1 ? pipe : pipe.slice(0, end)).filter(
    (one): one is GenericSchema => one.kind === "schema" && one.type !== "custom",
  );
  const found = schemas.at(-1);
  if (!found) throw new Error("a pipe without a schema that can be written");
  return getInnerSchema(found);
};
