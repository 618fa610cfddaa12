import * as v from "valibot";
import { isUnexpired, toEpochSeconds } from "../lib/time.ts";
import type { Table } from "../ports/table.ts";

// Layout. What a verification learns from a domain's mail server serves its account for a day. Another account asks the
// server itself: an answer without a random recipient would tell that somebody asked before.
//
//   pk               sk               what
//   DOMAIN#<domain>  FACTS#<account>  catchAll, catchAllUntil (s): whether it accepts everybody, as a random recipient
//                                     proved it
//                                     randomRecipient: the one that was deferred, to be asked again in the next attempt
//   DOMAIN#<domain>  FACTS            the same, where one person has the process for himself

const RETENTION_SECONDS = 86_400;
/**
 * Longer than a job's attempts are apart. What ends this soon is proven anew, or it would be known in the first attempt
 * and, at a server that greylists, not provable in the second.
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
  /** An address that nobody has, and that the domain's server has already seen. */
  readonly randomRecipient?: string;
  /** What is known of the domain is to be proven, for the first time or anew. */
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
   * A server that greylists defers the random recipient as it defers the person, and accepts neither before it has
   * seen each of them twice. So the same one is asked again, by whichever process makes the next attempt.
   */
  readonly storeRandomRecipient: (
    domain: string,
    account: string,
    recipient: string,
  ) => Promise<void>;
};

/** The facts of each account, with what this process saw lately in front of them. Forgetting costs a random recipient. */
export const createCatchAllCache = (table: Table, now: () => Date): CatchAllCache => {
  const remembered = new Map<string, CatchAllItem>();
  const getSeconds = () => toEpochSeconds(now());
  const toKey = (domain: string, account: string) => ({
    pk: `DOMAIN#${domain}`,
    sk: account === "" ? "FACTS" : `FACTS#${account}`,
  });

  const remember = ({ pk, sk }: ReturnType<typeof toKey>, item: CatchAllItem): void => {
    const [oldest] = remembered.keys();
    if (remembered.size >= REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
    remembered.set(`${pk} ${sk}`, item);
  };

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
      // Not kept is not wrong: the next process asks a random recipient again.
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

/** Of what is known about catch-all. An item of the last release has no end of its own for it. */
const getSecondsLeft = (
  { catchAll, catchAllUntil, expires_at }: CatchAllItem,
  atSeconds: number,
): number => {
  const until = catchAllUntil ?? expires_at;
  const isKnown = catchAll && isUnexpired(until * 1000, atSeconds * 1000, RETENTION_SECONDS * 1000);
  return isKnown ? until - atSeconds : 0;
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
