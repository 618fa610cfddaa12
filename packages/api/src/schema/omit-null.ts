/** The fields of an object that are not null. The contract leaves out unknown values where a field has a plain type. */
export const omitNull = <T extends object>(
  fields: T,
): { [Field in keyof T]?: Exclude<T[Field], null> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [Field in keyof T]?: Exclude<T[Field], null>;
  };
