/**
 * Handlers of the topology that are not written yet. It only ever gets shorter; a product that can be deployed has
 * nothing here.
 */
export const NOT_BUILT_YET: readonly string[] = [];
