import type { ListChange } from "@mailproof/mail/lists/changes";

/** The operator's changes to the lists. A deployment replaces this module by the lines of LIST_CHANGES_FILE (bundle.ts). */
export const LIST_CHANGES: readonly ListChange[] = [];
