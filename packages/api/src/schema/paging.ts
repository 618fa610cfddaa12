import { signCursor, verifyCursor } from "@mailproof/core/lib/cursor";
import type { Json } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import { invalidField } from "../http/parse.ts";
import { Cursor, describe, limitUpTo } from "./common.ts";
import * as field from "./fields.ts";

// A list that is read in pages: each page ends with the `offset` of the next one.

export const createLimit = (what: string, limit: Parameters<typeof limitUpTo>[0]) => {
  const most = limit.most.toLocaleString("en");
  return describe(
    limitUpTo(limit),
    `Largest number of ${what} on a page. Larger values are cut to ${most}.`,
  );
};

export const Offset = describe(Cursor, "The `next_offset` of the previous page.");

export const PAGE_END = {
  has_more: field.boolean("True when there is another page."),
  next_offset: describe(Cursor, "Cursor for the next page. Left out on the last page."),
};

/** Returns the position that a page ended at. `bound` identifies the list and its filter. */
export const readOffset = <P extends Json>(
  { settings }: Pick<World, "settings">,
  bound: string,
  offset: string | undefined,
): P | undefined => {
  if (offset === undefined) return undefined;
  const position = verifyCursor(settings, bound, offset);
  if (position === undefined) throw invalidField("offset", "must be a next_offset of this list");
  return position as P;
};

export const toPageEnd = (
  { settings }: Pick<World, "settings">,
  bound: string,
  next: Json | undefined,
) => ({
  has_more: next !== undefined,
  ...(next !== undefined && { next_offset: signCursor(settings, bound, next) }),
});
