import * as v from "valibot";
import { FAILURE_CODES } from "../lib/failure.ts";
import { toEpochSeconds } from "../lib/time.ts";
import type { Item } from "../ports/table.ts";

// Layout. An item stores the requests that one process answered within about a second. It contains routes instead of paths, so
// it contains no address.
//
//   pk                 sk                           content
//   REQUESTS#<owner>   <last answered at>#<its id>  entries: the requests, oldest first

const RequestEntry = v.object({
  id: v.string(),
  at: v.string(),
  /** The operation's name in the documentation. */
  route: v.string(),
  status: v.number(),
  ms: v.number(),
  keyId: v.string(),
  /** Null when the request succeeded. */
  code: v.nullable(v.picklist(FAILURE_CODES)),
});

export type RequestEntry = Readonly<v.InferOutput<typeof RequestEntry>>;

const RequestItem = v.object({ sk: v.string(), entries: v.array(RequestEntry) });

const RETENTION_SECONDS = 7 * 86_400;

export const toRequestsPartition = (owner: string): string => `REQUESTS#${owner}`;

export const toRequestItem = (
  owner: string,
  entries: readonly RequestEntry[],
  now: Date,
): Item | undefined => {
  const last = entries.at(-1);
  return (
    last && {
      pk: toRequestsPartition(owner),
      sk: `${last.at}#${last.id}`,
      entries,
      expires_at: toEpochSeconds(now) + RETENTION_SECONDS,
    }
  );
};

export const readRequestItem = (item: Item) => v.parse(RequestItem, item);
