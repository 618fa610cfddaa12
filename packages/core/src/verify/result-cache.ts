import type { AddressText } from "@mailproof/mail/address";
import { fingerprint } from "../lib/fingerprint.ts";
import { isTooFarAhead, toEpochSeconds } from "../lib/time.ts";
import type { Key, Table, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { removeItem } from "../runtime/remove-item.ts";
import { type PackedVerification, pack, unpack } from "./pack.ts";
import type { Verification } from "./result.ts";
import { toEmail } from "./split-roughly.ts";
import { NOT_PROBED } from "./unpaid-results.ts";

// Layout. The result of an address, for a day. Each account has its own cache, so no account can find out what another
// one verified.
//
//   pk                           sk     what
//   CACHED#<owner>#<fingerprint>  RESULT  the whole result, with every optional part

const RETENTION_SECONDS = 86_400;

export type CachedQuery = { readonly email: AddressText; readonly deepVerify: boolean };

/** The cached result, if there is one of this day. `email` is spelled as in the present request. */
export const findCachedResult = async (
  { table, now }: Pick<World, "table" | "now">,
  owner: string,
  query: CachedQuery,
): Promise<Verification | undefined> => {
  const item = await table.get(toCacheKey(owner, query));
  const untilMs = (item?.expires_at ?? 0) * 1000;
  if (!item || isTooFarAhead(untilMs, now().getTime(), RETENTION_SECONDS * 1000)) return undefined;
  return { ...unpack(item["result"] as PackedVerification), email: toEmail(query.email) };
};

/**
 * An `unknown` result is not cached: a caller that sends the address again wants another attempt. One that is unknown
 * because the request named no deep check would be the same. An unproven refusal is asked about again, too.
 */
export const createCacheWrites = (
  world: Pick<World, "now">,
  owner: string,
  query: CachedQuery,
  result: Verification,
): Write[] =>
  (result.status === "unknown" && result.reason !== NOT_PROBED) || result.unproven !== undefined
    ? []
    : [
        {
          put: {
            ...toCacheKey(owner, query),
            result: pack(result),
            expires_at: toEpochSeconds(world.now()) + RETENTION_SECONDS,
          },
        },
      ];

/** Removes the result of an address, and returns how many there were. */
export const eraseCachedResults = async (
  table: Table,
  owner: string,
  email: AddressText,
): Promise<number> => {
  let count = 0;
  for (const deepVerify of [true, false])
    count += await removeItem(table, toCacheKey(owner, { email, deepVerify }));
  return count;
};

const toCacheKey = (owner: string, { email, deepVerify }: CachedQuery): Key => ({
  pk: `CACHED#${owner}#${fingerprint([email.canonical, deepVerify])}`,
  sk: "RESULT",
});
