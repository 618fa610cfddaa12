/** Drops the null fields of an object. The contract omits an unknown value when its field has a plain type. */
export const omitNull = <T extends object>(
  fields: T,
): { [Field in keyof T]?: Exclude<T[Field], null> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [Field in keyof T]?: Exclude<T[Field], null>;
  };
