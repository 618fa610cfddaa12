import { broad } from "./data/broad.ts";
import type { Edition } from "./edition-file.ts";
import { BUILT_IN } from "./lists.ts";

/** All lists that this code ships with. */
export const WHOLE_EDITION: Edition = { ...BUILT_IN, lists: { ...BUILT_IN.lists, broad } };
