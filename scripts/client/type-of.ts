import type { GenericSchema } from "valibot";

// Valibot schemas as TypeScript. What no endpoint uses yet is an error here, and not an `unknown` that nobody notices.

/** What is sent is typed by what a schema takes, what is answered by what it gives. */
export type Side = "input" | "output";

type Entries = Readonly<Record<string, GenericSchema>>;

/** Schemas that have a name of their own, by identity. */
export type Named = ReadonlyMap<GenericSchema, string>;

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

export const typeOf = (schema: GenericSchema, side: Side, named: Named): string => {
  const name = named.get(schema);
  if (name !== undefined) return name;
  const parts = partsOf(essence(schema));
  const inner = (one: GenericSchema | undefined) => typeOf(one as GenericSchema, side, named);
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
      return `${inner(parts.wrapped)} | null`;
    case "optional":
      return inner(parts.wrapped);
    case "array":
      return `${side === "input" ? "readonly " : ""}(${inner(parts.item)})[]`;
    case "record":
      return `Record<${inner(parts.key)}, ${inner(parts.value)}>`;
    case "union":
    case "variant":
      return (parts.options ?? []).map((option) => inner(option as GenericSchema)).join(" | ");
    case "object":
    case "strict_object":
      return objectOf(parts.entries ?? {}, side, named);
    default:
      throw new Error(`no type for a schema of ${parts.type}`);
  }
};

/** One that has everything of another with a name, and more, is said as that other and the rest. */
const objectOf = (entries: Entries, side: Side, named: Named): string => {
  const [base, name] = largest(
    [...named].filter(([schema]) => isWithin(partsOf(schema).entries ?? {}, entries)),
  ) ?? [undefined, undefined];
  const known = base ? (partsOf(base).entries ?? {}) : {};
  const rest = Object.fromEntries(Object.entries(entries).filter(([field]) => !(field in known)));
  const own = `{ ${fieldsOf(rest, side, named)} }`;
  return name === undefined ? own : `${name} & ${own}`;
};

const isWithin = (few: Entries, many: Entries): boolean =>
  Object.keys(few).length < Object.keys(many).length &&
  Object.entries(few).every(([field, schema]) => many[field] === schema);

const largest = (found: readonly (readonly [GenericSchema, string])[]) =>
  found.toSorted(([a], [b]) => sizeOf(b) - sizeOf(a))[0];

const sizeOf = (schema: GenericSchema): number => Object.keys(partsOf(schema).entries ?? {}).length;

export const fieldsOf = (entries: Entries, side: Side, named: Named): string =>
  Object.entries(entries)
    .map(([name, schema]) => {
      const isOptional = partsOf(schema).type === "optional";
      const mark = isOptional ? "?" : "";
      // Whoever sends may say undefined; what is answered is there or not.
      const orNot = isOptional && side === "input" ? " | undefined" : "";
      return `${name}${mark}: ${typeOf(schema, side, named)}${orNot};`;
    })
    .join("\n");

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
