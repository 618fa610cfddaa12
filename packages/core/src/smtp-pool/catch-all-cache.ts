import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import * as v from "valibot";
import { isUnexpired, toEpochSeconds } from "../lib/time.ts";
import type { Table } from "../ports/table.ts";

// Layout. An account's knowledge of a domain's mail server, for a day. The item holds no proof that the server refuses unknown
// recipients, which each job asks for anew: else an acceptance might be older than its proof. Another account asks the
// server itself: a result without a question would show that some account has verified the domain before.
//
//   pk               sk               what
//   DOMAIN#<domain>  CATCH_ALL#<account>  catchAll ("yes"), catchAllUntil (s): it accepted a random recipient
//                                     randomRecipient: the one that the server deferred; later sessions use it again
//   DOMAIN#<domain>  CATCH_ALL            the same, when the process serves one person alone

const RETENTION_SECONDS = 86_400;
/** The table keeps a deferred random recipient for longer than the time between two attempts of a job. */
const RENEWAL_SECONDS = 2 * 3_600;
const REMEMBERED_MAX = 50_000;
/** One refusal proves this many acceptances of its job. After them the server may have begun to accept everybody. */
const ACCEPTANCES_PER_REFUSAL = 10;

const CatchAllItem = v.object({
  // Release 0.2.0 also stores "no".
  catchAll: v.optional(v.picklist(["yes", "no"])),
  catchAllUntil: v.optional(v.number()),
  randomRecipient: v.optional(v.string()),
  expires_at: v.number(),
});
type CatchAllItem = v.InferOutput<typeof CatchAllItem>;

export type ProvenCatchAll = "yes" | "no";

export type CatchAllState = {
  readonly acceptsEveryone: boolean;
  /** An address that should not exist, and that the domain's server has deferred before. */
  readonly randomRecipient?: string;
  readonly expiresSoon: boolean;
};

const NOTHING_KNOWN: CatchAllState = { acceptsEveryone: false, expiresSoon: true };

/** Recipients of one job and one domain at the same mail hosts. */
type JobRecipients = { readonly key: string; readonly count: number };

export type CatchAllCache = ReturnType<typeof createCatchAllCache>;

/** Caches recent items of the table. A lost item costs one more random recipient. */
export const createCatchAllCache = (table: Table, now: () => Date) => {
  const remembered = createBoundedMap<CatchAllItem>({ weightMax: REMEMBERED_MAX });
  const acceptancesLeft = createBoundedMap<number>({ weightMax: REMEMBERED_MAX });
  const getSeconds = () => toEpochSeconds(now());
  const toKey = (domain: string, account: string) => ({
    pk: `DOMAIN#${domain}`,
    sk: account === "" ? "CATCH_ALL" : `CATCH_ALL#${account}`,
  });

  return {
    /** True when an earlier session of the job proved that the mail hosts refuse unknown recipients, and its proof still counts. */
    hasRefusal: ({ key, count }: JobRecipients): boolean =>
      count <= (acceptancesLeft.get(key) ?? 0),

    /** `refused`: the server refused a random or another unknown recipient. `count`: how many recipients it accepted. */
    countSession: ({ key, count }: JobRecipients, refused: "random" | "other" | null): void => {
      const left = acceptancesLeft.get(key);
      const isRenewed = refused === "random" || (refused === "other" && left !== undefined);
      acceptancesLeft.set(key, isRenewed ? ACCEPTANCES_PER_REFUSAL : (left ?? 0) - count);
    },

    find: async (domain: string, account: string): Promise<CatchAllState> => {
      const key = toKey(domain, account);
      const recent = remembered.get(`${key.pk} ${key.sk}`);
      if (recent && isCatchAll(recent, getSeconds())) return toState(recent, getSeconds());
      const item = v.safeParse(CatchAllItem, await table.get(key).catch(() => undefined));
      if (!item.success) return NOTHING_KNOWN;
      if (isCatchAll(item.output, getSeconds())) remembered.set(`${key.pk} ${key.sk}`, item.output);
      return toState(item.output, getSeconds());
    },

    /** `before`: the account's knowledge before the proof. */
    storeProof: async (
      domain: string,
      account: string,
      proven: ProvenCatchAll,
      before: CatchAllState,
    ): Promise<void> => {
      const { randomRecipient, acceptsEveryone, expiresSoon } = before;
      const isKept = randomRecipient !== undefined && expiresSoon;
      if (proven === "no" && !acceptsEveryone && !isKept) return;
      const key = toKey(domain, account);
      const until = getSeconds() + RETENTION_SECONDS;
      const item = {
        ...(proven === "yes" && { catchAll: proven, catchAllUntil: until }),
        ...(randomRecipient !== undefined && { randomRecipient }),
        expires_at: until,
      };
      remembered.set(`${key.pk} ${key.sk}`, item);
      // A failed write does no harm: the next process asks again.
      await table.write({ put: { ...key, ...item } }).catch(() => undefined);
    },

    /**
     * A server that greylists defers the random recipient as it defers the real one, and accepts each at its second
     * attempt. So the next attempt, in whichever process it runs, uses the same random recipient.
     */
    storeRandomRecipient: async (
      domain: string,
      account: string,
      randomRecipient: string,
    ): Promise<void> => {
      const set = { randomRecipient, expires_at: getSeconds() + RETENTION_SECONDS };
      // The first random recipient stays, since the server has known it for longest.
      const where = { randomRecipient: { missing: true } } as const;
      await table
        .write({ update: toKey(domain, account), set, where, orCreate: true })
        .catch(() => undefined);
    },
  };
};

/** Items of the last release have no `catchAllUntil`. */
const isCatchAll = (
  { catchAll, catchAllUntil, expires_at }: CatchAllItem,
  atSeconds: number,
): boolean =>
  catchAll === "yes" &&
  isUnexpired((catchAllUntil ?? expires_at) * 1000, atSeconds * 1000, RETENTION_SECONDS * 1000);

const toState = (item: CatchAllItem, atSeconds: number): CatchAllState => {
  const { randomRecipient, expires_at } = item;
  return {
    acceptsEveryone: isCatchAll(item, atSeconds),
    ...(randomRecipient !== undefined && { randomRecipient }),
    expiresSoon: expires_at - atSeconds <= RENEWAL_SECONDS,
  };
};
