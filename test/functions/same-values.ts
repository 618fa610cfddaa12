// Compares the values that two builds of one module export: their types, numbers, texts, schemas and rules.

type Keyed = Readonly<Record<string, unknown>>;

/** Texts that a bundle does without (packages/functions/bundle.ts). */
const DROPPED_TEXTS = ["example", "why"];

/** `describe` adds no check: a bundle has the schema itself (core/src/lib/describe.ts). */
const undescribe = (value: unknown): unknown => {
  const { pipe } = Object(value) as { readonly pipe?: readonly Keyed[] };
  if (!Array.isArray(pipe) || pipe.length !== 2) return value;
  return pipe[1]?.["type"] === "description" ? undescribe(pipe[0]) : value;
};

const isThunk = (value: unknown): value is () => unknown =>
  typeof value === "function" && value.length === 0 && /^\(\) ?=>/.test(String(value));

export type Comparison = {
  /** The path of each value that differs, with both forms. */
  readonly differences: readonly string[];
  /** How many schemas of valibot were compared. */
  readonly schemas: number;
};

/** `callsThunks`: the schemas of AWS's SDK name each other by functions without parameters. */
export const compareValues = (
  source: unknown,
  built: unknown,
  { callsThunks = false } = {},
): Comparison => {
  const differences: string[] = [];
  const seen = new Map<object, Set<unknown>>();
  let schemas = 0;

  const compare = (path: string, before: unknown, after: unknown): void => {
    const [here, there] = [undescribe(before), undescribe(after)];
    if (getKind(here) !== getKind(there)) {
      differences.push(`${path}: ${getKind(here)} became ${getKind(there)}`);
      return;
    }
    if (callsThunks && isThunk(here) && isThunk(there)) compare(`${path}()`, here(), there());
    if (typeof here === "function") return;
    if (typeof here !== "object" || here === null) {
      if (!Object.is(here, there))
        differences.push(`${path}: ${String(here)} became ${String(there)}`);
      return;
    }
    const met = seen.get(here) ?? new Set();
    if (met.has(there)) return;
    seen.set(here, met.add(there));
    if (getKind(here).startsWith("schema ")) schemas++;
    if (here instanceof RegExp || here instanceof Date) {
      compare(path, String(here), String(there));
      return;
    }
    const [old, now] = [toKeyed(here), toKeyed(there as object)];
    for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
      const isDropped = DROPPED_TEXTS.includes(key) && typeof old[key] === "string";
      if (!(isDropped && !(key in now))) compare(`${path}.${key}`, old[key], now[key]);
    }
  };

  compare("", source, built);
  return { differences, schemas };
};

const getKind = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const { kind, type } = value as Keyed;
  if (typeof kind === "string" && typeof type === "string") return `${kind} ${type}`;
  return Array.isArray(value) ? "array" : Object.prototype.toString.call(value).slice(8, -1);
};

const toKeyed = (value: object): Keyed => {
  if (value instanceof Map) return Object.fromEntries(value);
  return (value instanceof Set ? [...value] : value) as unknown as Keyed;
};
