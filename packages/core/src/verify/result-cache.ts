import type { AddressText } from "@mailproof/mail/address";
import { fingerprint } from "../lib/fingerprint.ts";
import { isTooFarAhead, toEpochSeconds } from "../lib/time.ts";
import type { Payer } from "../money/payer.ts";
import { type Key, removeItem, type Table, type Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { type PackedVerification, pack, unpack } from "./pack.ts";
import type { Verification } from "./result.ts";
import { toEmail } from "./split-roughly.ts";
import { createVerdictWrites } from "./store-verdict.ts";
import { NOT_PROBED } from "./unpaid-results.ts";

// Layout. The result of an address, for a day. Each account has its own cache, so no account can find out which addresses
// another account verified.
//
//   pk                            sk      content
//   CACHED#<owner>#<fingerprint>  RESULT  the whole result, with every optional part

const RETENTION_SECONDS = 86_400;

export type CachedQuery = { readonly email: AddressText; readonly deepVerify: boolean };

/** Returns a cached result of the last day. `email` has the spelling of the present request. */
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
 * Does not cache an `unknown` result, because a client that sends the address again wants another attempt. An exception is a
 * request without a deep check, whose result would be the same. An unproven refusal is not cached either.
 */
const createCacheWrites = (
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

/** The writes of one answer that later requests read: its cached result, and its verdict. */
export const createAnswerWrites = (
  world: World,
  { account, mode }: Pick<Payer, "account" | "mode">,
  query: CachedQuery,
  result: Verification,
): readonly Write[] =>
  mode === "live"
    ? [
        ...createCacheWrites(world, account, query, result),
        ...createVerdictWrites(world, account, query.email.address, result),
      ]
    : [];
