import * as v from "valibot";
import { epochSeconds, isAhead } from "../moments.ts";
import type { Table } from "../table.ts";

// Layout. What one verification learns about a domain serves all accounts for a day: facts of the internet, and
// nothing of who asked.
//
//   pk               sk      what
//   DOMAIN#<domain>  FACTS   catchAll, catchAllUntil (s): whether it accepts everybody, as a random recipient proved it
//                            randomRecipient: the one that was deferred, to be asked again in the next attempt

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
  readonly find: (domain: string) => Promise<Facts>;
  readonly learn: (domain: string, catchAll: KnownCatchAll) => Promise<void>;
  /**
   * A server that greylists defers the random recipient as it defers the person, and accepts neither before it has
   * seen each of them twice. So the same one is asked again, by whichever process makes the next attempt.
   */
  readonly keepRandomRecipient: (domain: string, recipient: string) => Promise<void>;
};

/** The shared facts, with what this process saw lately in front of them. Forgetting costs a random recipient. */
export const domainFacts = (table: Table, now: () => Date): DomainFacts => {
  const remembered = new Map<string, Item>();
  const seconds = () => epochSeconds(now());
  const keyOf = (domain: string) => ({ pk: `DOMAIN#${domain}`, sk: "FACTS" });

  const remember = (domain: string, item: Item): void => {
    const [oldest] = remembered.keys();
    if (remembered.size >= REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
    remembered.set(domain, item);
  };

  return {
    find: async (domain) => {
      const lately = remembered.get(domain);
      if (lately && secondsLeft(lately, seconds()) > RENEWAL_SECONDS)
        return factsOf(lately, seconds());
      const item = v.safeParse(Item, await table.get(keyOf(domain)).catch(() => undefined));
      if (!item.success) return lately ? factsOf(lately, seconds()) : { isProofDue: true };
      if (item.output.catchAll) remember(domain, item.output);
      return factsOf(item.output, seconds());
    },

    learn: async (domain, catchAll) => {
      const until = seconds() + KEPT_SECONDS;
      const item = { catchAll, catchAllUntil: until, expires_at: until };
      remember(domain, item);
      // Not kept is not wrong: the next process asks a random recipient again.
      await table.write({ put: { ...keyOf(domain), ...item } }).catch(() => undefined);
    },

    keepRandomRecipient: async (domain, randomRecipient) => {
      const set = { randomRecipient, expires_at: seconds() + KEPT_SECONDS };
      // The first one stays: the server has known it for longest.
      const where = { randomRecipient: { missing: true } } as const;
      await table
        .write({ update: keyOf(domain), set, where, orCreate: true })
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
