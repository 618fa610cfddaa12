import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import * as v from "valibot";
import { isUnexpired, toEpochSeconds } from "../lib/time.ts";
import type { Table } from "../ports/table.ts";

// Layout. What a verification learns from a domain's mail server serves its account for a day. Another account probes
// the server itself: a result without a probe would show that some account has verified the domain before.
//
//   pk               sk               what
//   DOMAIN#<domain>  CATCH_ALL#<account>  catchAll, catchAllUntil (s): whether it accepts every recipient, as a random one
//                                     proved it
//                                     randomRecipient: the one that the server deferred; the next attempt uses it again
//   DOMAIN#<domain>  CATCH_ALL            the same, where one person has the process to himself

const RETENTION_SECONDS = 86_400;
/**
 * Longer than the time between a job's attempts. A proof that expires sooner is renewed; else it would be there in the
 * first attempt and, at a server that greylists, could not be renewed in the second.
 */
const RENEWAL_SECONDS = 2 * 3_600;
const REMEMBERED_MAX = 50_000;

const CatchAllItem = v.object({
  catchAll: v.optional(v.picklist(["yes", "no"])),
  catchAllUntil: v.optional(v.number()),
  randomRecipient: v.optional(v.string()),
  expires_at: v.number(),
});
type CatchAllItem = v.InferOutput<typeof CatchAllItem>;

export type ProvenCatchAll = "yes" | "no";

export type CatchAllState = {
  readonly catchAll?: ProvenCatchAll;
  /** An address that should not exist, and that the domain's server has seen before. */
  readonly randomRecipient?: string;
  /** No proof is stored, or it expires soon. */
  readonly needsProof: boolean;
};

export type CatchAllCache = {
  readonly find: (domain: string, account: string) => Promise<CatchAllState>;
  readonly storeCatchAll: (
    domain: string,
    account: string,
    catchAll: ProvenCatchAll,
  ) => Promise<void>;
  /**
   * A server that greylists defers the random recipient as it defers the real one, and accepts each at its second
   * attempt. So the next attempt, in whichever process it runs, uses the same random recipient.
   */
  readonly storeRandomRecipient: (
    domain: string,
    account: string,
    recipient: string,
  ) => Promise<void>;
};

/** The table's items behind this process's recent ones. A lost item costs one more catch-all probe. */
export const createCatchAllCache = (table: Table, now: () => Date): CatchAllCache => {
  const remembered = createBoundedMap<CatchAllItem>({ weightMax: REMEMBERED_MAX });
  const getSeconds = () => toEpochSeconds(now());
  const toKey = (domain: string, account: string) => ({
    pk: `DOMAIN#${domain}`,
    sk: account === "" ? "CATCH_ALL" : `CATCH_ALL#${account}`,
  });

  const remember = ({ pk, sk }: ReturnType<typeof toKey>, item: CatchAllItem): void =>
    remembered.set(`${pk} ${sk}`, item);

  return {
    find: async (domain, account) => {
      const key = toKey(domain, account);
      const recent = remembered.get(`${key.pk} ${key.sk}`);
      if (recent && getSecondsLeft(recent, getSeconds()) > RENEWAL_SECONDS)
        return toState(recent, getSeconds());
      const item = v.safeParse(CatchAllItem, await table.get(key).catch(() => undefined));
      if (!item.success) return recent ? toState(recent, getSeconds()) : { needsProof: true };
      if (item.output.catchAll) remember(key, item.output);
      return toState(item.output, getSeconds());
    },

    storeCatchAll: async (domain, account, catchAll) => {
      const key = toKey(domain, account);
      const until = getSeconds() + RETENTION_SECONDS;
      const item = { catchAll, catchAllUntil: until, expires_at: until };
      remember(key, item);
      // A failed write does no harm: the next process probes again.
      await table.write({ put: { ...key, ...item } }).catch(() => undefined);
    },

    storeRandomRecipient: async (domain, account, randomRecipient) => {
      const set = { randomRecipient, expires_at: getSeconds() + RETENTION_SECONDS };
      // The first one stays: the server has known it for longest.
      const where = { randomRecipient: { missing: true } } as const;
      await table
        .write({ update: toKey(domain, account), set, where, orCreate: true })
        .catch(() => undefined);
    },
  };
};

/** How long the proof still holds. Items of the last release have no `catchAllUntil`. */
const getSecondsLeft = (
  { catchAll, catchAllUntil, expires_at }: CatchAllItem,
  atSeconds: number,
): number => {
  const until = catchAllUntil ?? expires_at;
  const isProven =
    catchAll && isUnexpired(until * 1000, atSeconds * 1000, RETENTION_SECONDS * 1000);
  return isProven ? until - atSeconds : 0;
};

const toState = (item: CatchAllItem, atSeconds: number): CatchAllState => {
  const { catchAll, randomRecipient } = item;
  const left = getSecondsLeft(item, atSeconds);
  return {
    ...(catchAll && left > 0 && { catchAll }),
    ...(randomRecipient !== undefined && { randomRecipient }),
    needsProof: left <= RENEWAL_SECONDS,
  };
};
