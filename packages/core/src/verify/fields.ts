import * as v from "valibot";

// What a table of fields says, and what follows from one: the types, the schema and the public form. The columns of
// files (exports/result-columns.ts) read the same table.

/** A field of a result, and its place in every form of the result. */
export type Field = {
  /** The name in the API and the header of the column, where it is not the key. */
  readonly name?: string;
  /** Whether the service keeps it to itself. */
  readonly isPrivate?: true;
  /** The public value. A field that may be left out is optional. */
  readonly schema: v.GenericSchema;
  /** Computes the public value from the result where it is not the value itself. Undefined leaves the field out. */
  readonly compute?: (result: never) => unknown;
  /** The field is public only: the result has no value for it. */
  readonly isComputed?: true;
  /** The fields of the object that the value is. */
  readonly fields?: Fields;
  /** Whether CSV files have a column for it. */
  readonly column?: true;
};

export type Fields = Readonly<Record<string, Field>>;

type ValueOf<F extends Field> = F extends { readonly fields: infer Inner extends Fields }
  ? ValuesOf<Inner>
  : Exclude<v.InferOutput<F["schema"]>, undefined>;

/** How the service holds a field: always, where there is a value, or never. */
type Presence<F extends Field> = F extends { readonly isComputed: true }
  ? "never"
  : undefined extends v.InferOutput<F["schema"]>
    ? "optional"
    : "always";

type Flat<T> = { [Key in keyof T]: T[Key] };

/** The object within the service. */
export type ValuesOf<F extends Fields> = Flat<
  {
    readonly [Key in keyof F as Presence<F[Key]> extends "always" ? Key : never]: ValueOf<F[Key]>;
  } & {
    readonly [Key in keyof F as Presence<F[Key]> extends "optional" ? Key : never]?: ValueOf<
      F[Key]
    >;
  }
>;

type PublicName<F extends Field, Key> = F extends { readonly isPrivate: true }
  ? never
  : F extends { readonly name: infer Name extends string }
    ? Name
    : Key;

type Entries<F extends Fields> = {
  -readonly [Key in keyof F as PublicName<F[Key], Key>]: F[Key]["schema"];
};

export type PublicSchema<F extends Fields> = v.ObjectSchema<Entries<F>, undefined>;

/** The object as the API answers it. */
export type PublicOf<F extends Fields> =
  PublicSchema<F> extends infer S extends v.GenericSchema ? v.InferOutput<S> : never;

/** The public fields, with the key and the public name of each. */
export const listPublicFields = (fields: Fields) =>
  Object.entries(fields).flatMap(([key, { isPrivate, ...field }]) =>
    isPrivate ? [] : [{ name: key, ...field, key }],
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

/** A type that no schema checks: only this service makes and reads the value. */
// @__NO_SIDE_EFFECTS__
export const typed = <T>(): v.GenericSchema<T> => v.custom<T>(() => true);

type Values = Readonly<Record<string, unknown>>;

/** Returns the function that gives a result its public names. */
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
