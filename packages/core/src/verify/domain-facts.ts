import * as v from "valibot";
import { epochSeconds } from "../moments.ts";
import type { Table } from "../table.ts";

// Layout. What one verification learns about a domain serves all accounts for a day: facts of the internet, and
// nothing of who asked.
//
//   pk               sk      what
//   DOMAIN#<domain>  FACTS   catchAll: whether it accepts everybody, as a decoy proved it

const KEPT_SECONDS = 86_400;
const REMEMBERED_MAX = 50_000;

const Facts = v.object({ catchAll: v.picklist(["yes", "no"]), expires_at: v.number() });

export type KnownCatchAll = "yes" | "no";

export type DomainFacts = {
  readonly catchAllOf: (domain: string) => Promise<KnownCatchAll | undefined>;
  readonly learn: (domain: string, catchAll: KnownCatchAll) => Promise<void>;
};

/** The shared facts, with what this process saw lately in front of them. Forgetting costs a decoy, no more. */
export const domainFacts = (table: Table, now: () => Date): DomainFacts => {
  const remembered = new Map<string, v.InferOutput<typeof Facts>>();
  const seconds = () => epochSeconds(now());
  const keyOf = (domain: string) => ({ pk: `DOMAIN#${domain}`, sk: "FACTS" });

  const remember = (domain: string, facts: v.InferOutput<typeof Facts>): void => {
    const [oldest] = remembered.keys();
    if (remembered.size >= REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
    remembered.set(domain, facts);
  };

  return {
    catchAllOf: async (domain) => {
      const lately = remembered.get(domain);
      if (lately && lately.expires_at > seconds()) return lately.catchAll;
      const item = await table.get(keyOf(domain)).catch(() => undefined);
      const facts = v.safeParse(Facts, item);
      if (!facts.success) return undefined;
      remember(domain, facts.output);
      return facts.output.catchAll;
    },

    learn: async (domain, catchAll) => {
      const facts = { catchAll, expires_at: seconds() + KEPT_SECONDS };
      remember(domain, facts);
      // Not kept is not wrong: the next process asks the decoy again.
      await table.write({ put: { ...keyOf(domain), ...facts } }).catch(() => undefined);
    },
  };
};
