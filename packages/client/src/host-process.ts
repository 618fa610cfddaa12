type Process = {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly getBuiltinModule?: (name: string) => unknown;
};

/** The process environment of Node, Deno and Bun. Undefined in browsers; a bundle for browsers imports nothing. */
export const getHostProcess = (): Process | undefined =>
  (globalThis as { readonly process?: Process }).process;
