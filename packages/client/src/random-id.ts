/** Uses `getRandomValues`, because browsers have `randomUUID` only on pages from https and from their own machine. */
export const createRandomId = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");
