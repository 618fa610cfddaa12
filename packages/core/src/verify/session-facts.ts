import { isDeferral } from "../mail/smtp/classify.ts";
import type { Tried } from "../mail/smtp/connect.ts";
import { decoyAt } from "../mail/smtp/decoy.ts";
import type { DomainFacts, Facts, KnownCatchAll } from "./domain-facts.ts";
import { catchAllFrom } from "./finding.ts";
import type { Requester } from "./requester.ts";

// What one session needs to know of its recipients' domains, and what it finds out about them: for each account its own.

type Asker = {
  readonly requester: Requester;
  readonly domain: string;
  /** Whether a random recipient is of use there. */
  readonly decoy: boolean;
};

/** What an account knew of a domain before the session. */
type KnownFacts = { readonly account: string; readonly domain: string; readonly facts: Facts };

/** By account and domain: what one account learnt is not another's. */
export const knownKey = ({ requester, domain }: Asker): string => `${requester.account} ${domain}`;

export const knownFacts = async (
  facts: DomainFacts,
  batch: readonly Asker[],
): Promise<ReadonlyMap<string, KnownFacts>> => {
  const pairs = new Map(batch.map((one) => [knownKey(one), one]));
  const found = [...pairs].map(
    async ([
      key,
      {
        domain,
        requester: { account },
      },
    ]) => {
      return [key, { account, domain, facts: await facts.find(domain, account) }] as const;
    },
  );
  return new Map(await Promise.all(found));
};

/** One random recipient for each domain that somebody in the batch has no proof of. */
export const decoysFor = (
  random: () => number,
  batch: readonly Asker[],
  known: ReadonlyMap<string, KnownFacts>,
): ReadonlyMap<string, string> => {
  const decoys = new Map<string, string>();
  for (const one of batch) {
    const { domain } = one;
    const facts = known.get(knownKey(one))?.facts;
    if (one.decoy && facts?.isProofDue)
      decoys.set(domain, facts.randomRecipient ?? decoys.get(domain) ?? decoyAt(domain, random));
  }
  return decoys;
};

/** What was known of the domains before the session, and the random recipients that were asked for them. */
type Preparation = {
  readonly known: ReadonlyMap<string, KnownFacts>;
  readonly decoys: ReadonlyMap<string, string>;
};

/** What the session proved of the domains whose random recipient was asked; null where its answer proves nothing. */
export const learnFrom = async (
  facts: DomainFacts,
  tried: Tried,
  { known, decoys }: Preparation,
): Promise<ReadonlyMap<string, KnownCatchAll | null>> => {
  const tested = new Map<string, KnownCatchAll | null>();
  for (const { domain, reply } of tried.result.decoys) {
    const proven = catchAllFrom(reply, tried.host);
    tested.set(domain, proven ?? null);
    const recipient = decoys.get(domain);
    const isDeferred = recipient && reply && isDeferral(reply, tried.host);
    for (const { account, facts: before } of ofDomain(known, domain)) {
      if (proven) await facts.learn(domain, account, proven);
      else if (isDeferred && before.randomRecipient !== recipient)
        await facts.keepRandomRecipient(domain, account, recipient);
    }
  }
  return tested;
};

const ofDomain = (known: ReadonlyMap<string, KnownFacts>, wanted: string): readonly KnownFacts[] =>
  [...known.values()].filter(({ domain }) => domain === wanted);
