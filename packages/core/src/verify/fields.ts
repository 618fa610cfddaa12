import * as v from "valibot";

// A table of fields defines the types, the schema and the public form of a result. The columns of files
// (exports/result-columns.ts) read the same table.

export type Field = {
  /** The name in the API and the header of the column, if it is not the key in snake_case. */
  readonly name?: string;
  /** Set when no public form contains the field. */
  readonly isPrivate?: true;
  /** A field that may be absent has an optional schema. */
  readonly schema: v.GenericSchema;
  /** Computes the public value from the result, if it differs from the stored value. Undefined omits the field. */
  readonly compute?: (result: never) => unknown;
  /** Set for a public field without a value in the result. */
  readonly isComputed?: true;
  readonly fields?: Fields;
  readonly column?: true;
};

export type Fields = Readonly<Record<string, Field>>;

type ValueOf<F extends Field> = F extends { readonly fields: infer Inner extends Fields }
  ? ValuesOf<Inner>
  : Exclude<v.InferOutput<F["schema"]>, undefined>;

/** The internal result contains a field always, sometimes or never. */
type Presence<F extends Field> = F extends { readonly isComputed: true }
  ? "never"
  : undefined extends v.InferOutput<F["schema"]>
    ? "optional"
    : "always";

type Flat<T> = { [Key in keyof T]: T[Key] };

export type ValuesOf<F extends Fields> = Flat<
  {
    readonly [Key in keyof F as Presence<F[Key]> extends "always" ? Key : never]: ValueOf<F[Key]>;
  } & {
    readonly [Key in keyof F as Presence<F[Key]> extends "optional" ? Key : never]?: ValueOf<
      F[Key]
    >;
  }
>;

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name;

export const toSnake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

type PublicName<F extends Field, Key extends string> = F extends { readonly isPrivate: true }
  ? never
  : F extends { readonly name: infer Name extends string }
    ? Name
    : Snake<Key>;

type Entries<F extends Fields> = {
  -readonly [Key in keyof F as PublicName<F[Key], Key & string>]: F[Key]["schema"];
};

export type PublicSchema<F extends Fields> = v.ObjectSchema<Entries<F>, undefined>;

export type PublicOf<F extends Fields> =
  PublicSchema<F> extends infer S extends v.GenericSchema ? v.InferOutput<S> : never;

export const listPublicFields = (fields: Fields) =>
  Object.entries(fields).flatMap(([key, { isPrivate, ...field }]) =>
    isPrivate ? [] : [{ name: toSnake(key), ...field, key }],
  );

// @__NO_SIDE_EFFECTS__
export const toPublicSchema = <F extends Fields>(fields: F): PublicSchema<F> =>
  v.object(
    Object.fromEntries(listPublicFields(fields).map(({ name, schema }) => [name, schema])),
  ) as unknown as PublicSchema<F>;

// @__NO_SIDE_EFFECTS__
export const listStoredKeys = <F extends Fields>(
  fields: F,
): readonly (keyof ValuesOf<F> & string)[] =>
  Object.keys(fields).filter((key) => !fields[key]?.isComputed) as (keyof ValuesOf<F> & string)[];

/** A type without a check: only this service writes and reads the value. */
// @__NO_SIDE_EFFECTS__
export const typed = <T>(): v.GenericSchema<T> => v.custom<T>(() => true);

type Values = Readonly<Record<string, unknown>>;

export const createPublicWriter = <F extends Fields>(
  fields: F,
): ((result: ValuesOf<F>) => PublicOf<F>) => {
  const write = createWriter(fields);
  return (result) => write(result, result) as PublicOf<F>;
};

const createWriter = (fields: Fields) => {
  const rows = listPublicFields(fields).map(({ key, name, compute, fields: inner }) => ({
    key,
    name,
    compute: compute as Compute,
    write: inner && createWriter(inner),
  }));
  return (values: Values, result: Values): Values => {
    const written: Record<string, unknown> = {};
    for (const { key, name, compute, write } of rows) {
      const value = compute ? compute(result) : values[key];
      if (value !== undefined) written[name] = write ? write(value as Values, result) : value;
    }
    return written;
  };
};

type Compute = ((result: Values) => unknown) | undefined;
