/** A bug as a change of text. The text must be in its file exactly once. */
export type Edit = {
  /** From the root of the repository. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
};

export type Fault = Edit & {
  /** The effect, as a user would report it. */
  readonly what: string;
  /** More changes, without which another rule would hide the fault. */
  readonly also?: readonly Edit[];
  /** The test files of which one must fail, without `test/` and `.test.ts`. */
  readonly tests: readonly string[];
};

export const applyEdit = (source: string, { file, from, to }: Edit): string => {
  if (source.split(from).length !== 2) throw new Error(`${file} does not have once: ${from}`);
  return source.replace(from, () => to);
};
