import type { Schema } from "@mailproof/api/endpoint";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What stands in a schema of valibot, or in a step of its pipe. */
type Node = {
  readonly kind: "schema" | "validation" | "transformation" | "metadata";
  readonly type: string;
  readonly pipe?: readonly Node[];
  readonly entries?: Readonly<Record<string, Node>>;
  readonly item?: Node;
  readonly wrapped?: Node;
  readonly options?: readonly unknown[];
  readonly literal?: unknown;
  readonly default?: unknown;
  readonly requirement?: unknown;
};

/** What a caller sends, as JSON Schema 2020-12. A kind that is not here throws, so nothing gets lost in silence. */
export const jsonSchemaOf = (schema: Schema): JsonSchema => written(schema as unknown as Node);

const written = (node: Node): JsonSchema => {
  if (!node.pipe) return plain(node);
  const [first, ...steps] = node.pipe;
  let schema = first ? written(first) : {};
  for (const step of steps)
    schema = { ...schema, ...(step.kind === "schema" ? written(step) : bound(step, schema)) };
  return schema;
};

const plain = (node: Node): JsonSchema => {
  const { type, entries, item, wrapped, options = [] } = node;
  if (entries) return objectOf(entries);
  if (wrapped) return { ...written(wrapped), ...withDefault(node.default) };
  if (type === "array" && item) return { type, items: written(item) };
  if (type === "picklist") return { type: "string", enum: [...options] };
  if (type === "literal") return { type: typeof node.literal, const: node.literal };
  if (["string", "number", "boolean"].includes(type)) return { type };
  if (type === "unknown" || type === "custom") return {};
  throw new Error(`no JSON Schema is known for valibot's ${type}`);
};

const objectOf = (entries: Readonly<Record<string, Node>>): JsonSchema => ({
  type: "object",
  properties: Object.fromEntries(
    Object.entries(entries).map(([field, node]) => [field, written(node)]),
  ),
  required: Object.keys(entries).filter((field) => entries[field]?.type !== "optional"),
  additionalProperties: false,
});

const withDefault = (otherwise: unknown) => otherwise !== undefined && { default: otherwise };

const bound = ({ kind, type, requirement }: Node, { type: of }: JsonSchema): JsonSchema => {
  if (kind === "transformation") return {};
  const unit = of === "array" ? "Items" : "Length";
  if (type === "min_length") return { [`min${unit}`]: requirement };
  if (type === "max_length") return { [`max${unit}`]: requirement };
  if (type === "min_value") return { minimum: requirement };
  if (type === "max_value") return { maximum: requirement };
  if (type === "integer") return { type };
  if (type === "regex") return { pattern: (requirement as RegExp).source };
  if (type === "check") return {};
  throw new Error(`no JSON Schema is known for valibot's ${type}`);
};
