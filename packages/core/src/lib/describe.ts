import * as v from "valibot";

/** The field's description in the API reference. It has no effect at run time. */
// @__NO_SIDE_EFFECTS__
export const describe = <S extends v.GenericSchema>(schema: S, text: string): S =>
  v.pipe(schema, v.description(text)) as unknown as S;
