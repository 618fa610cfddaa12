import * as v from "valibot";
import { epochSeconds, isAhead } from "../moments.ts";
import type { Table } from "../table.ts";

// Layout. What a verification learns from a domain's mail server serves its account for a day. Another account asks the
// server itself: an answer without a random recipient would tell that somebody asked before.
//
//   pk               sk               what
//   DOMAIN#<domain>  FACTS#<account>  catchAll, catchAllUntil (s): whether it accepts everybody, as a random recipient
//                                     proved it
//                                     randomRecipient: the one that was deferred, to be asked again in the next attempt
//   DOMAIN#<domain>  FACTS            the same, where one person has the process for himself

const KEPT_SECONDS = 86_400;
/**
 * Longer than a job's attempts are apart. What ends this soon is proven anew, or it would be known in the first attempt
 * and, at a server that greylists, not provable in the second.
 */
const RENEWAL_SECONDS = 2 * 3_600;
const REMEMBERED_MAX = 50_000;

const Item = v.object({
  catchAll: v.optional(v.picklist(["yes", "no"])),
  catchAllUntil: v.optional(v.number()),
  randomRecipient: v.optional(v.string()),
  expires_at: v.number(),
});
type Item = v.InferOutput<typeof Item>;

export type KnownCatchAll = "yes" | "no";

export type Facts = {
  readonly catchAll?: KnownCatchAll;
  /** An address that nobody has, and that the domain's server has already seen. */
  readonly randomRecipient?: string;
  /** What is known of the domain is to be proven, for the first time or anew. */
  readonly isProofDue: boolean;
};

export type DomainFacts = {
  readonly find: (domain: string, account: string) => Promise<Facts>;
  readonly learn: (domain: string, account: string, catchAll: KnownCatchAll) => Promise<void>;
  /**
   * A server that greylists defers the random recipient as it defers the person, and accepts neither before it has
   * seen each of them twice. So the same one is asked again, by whichever process makes the next attempt.
   */
  readonly keepRandomRecipient: (
    domain: string,
    account: string,
    recipient: string,
  ) => Promise<void>;
};

/** The facts of each account, with what this process saw lately in front of them. Forgetting costs a random recipient. */
export const domainFacts = (table: Table, now: () => Date): DomainFacts => {
  const remembered = new Map<string, Item>();
  const seconds = () => epochSeconds(now());
  const keyOf = (domain: string, account: string) => ({
    pk: `DOMAIN#${domain}`,
    sk: account === "" ? "FACTS" : `FACTS#${account}`,
  });

  const remember = ({ pk, sk }: ReturnType<typeof keyOf>, item: Item): void => {
    const [oldest] = remembered.keys();
    if (remembered.size >= REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
    remembered.set(`${pk} ${sk}`, item);
  };

  return {
    find: async (domain, account) => {
      const key = keyOf(domain, account);
      const lately = remembered.get(`${key.pk} ${key.sk}`);
      if (lately && secondsLeft(lately, seconds()) > RENEWAL_SECONDS)
        return factsOf(lately, seconds());
      const item = v.safeParse(Item, await table.get(key).catch(() => undefined));
      if (!item.success) return lately ? factsOf(lately, seconds()) : { isProofDue: true };
      if (item.output.catchAll) remember(key, item.output);
      return factsOf(item.output, seconds());
    },

    learn: async (domain, account, catchAll) => {
      const key = keyOf(domain, account);
      const until = seconds() + KEPT_SECONDS;
      const item = { catchAll, catchAllUntil: until, expires_at: until };
      remember(key, item);
      // Not kept is not wrong: the next process asks a random recipient again.
      await table.write({ put: { ...key, ...item } }).catch(() => undefined);
    },

    keepRandomRecipient: async (domain, account, randomRecipient) => {
      const set = { randomRecipient, expires_at: seconds() + KEPT_SECONDS };
      // The first one stays: the server has known it for longest.
      const where = { randomRecipient: { missing: true } } as const;
      await table
        .write({ update: keyOf(domain, account), set, where, orCreate: true })
        .catch(() => undefined);
    },
  };
};

/** Of what is known about catch-all. An item of the last release has no end of its own for it. */
const secondsLeft = ({ catchAll, catchAllUntil, expires_at }: Item, atSeconds: number): number => {
  const until = catchAllUntil ?? expires_at;
  const isKnown = catchAll && isAhead(until * 1000, atSeconds * 1000, KEPT_SECONDS * 1000);
  return isKnown ? until - atSeconds : 0;
};

const factsOf = (item: Item, atSeconds: number): Facts => {
  const { catchAll, randomRecipient } = item;
  const left = secondsLeft(item, atSeconds);
  return {
    ...(catchAll && left > 0 && { catchAll }),
    ...(randomRecipient !== undefined && { randomRecipient }),
    isProofDue: left <= RENEWAL_SECONDS,
  };
};
