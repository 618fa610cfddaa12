import { isDeferral } from "../mail/smtp/classify.ts";
import type { SessionOutcome } from "../mail/smtp/connect.ts";
import { createRandomRecipient } from "../mail/smtp/random-recipient.ts";
import type { CatchAllCache, CatchAllState, ProvenCatchAll } from "./catch-all-cache.ts";
import { toCatchAll } from "./finding.ts";
import type { Requester } from "./requester.ts";

// What one session needs to know of its recipients' domains, and what it finds out about them: for each account its own.

type ProbeSubject = {
  readonly requester: Requester;
  readonly domain: string;
  /** Whether a random recipient is of use there. */
  readonly probeCatchAll: boolean;
};

/** What an account knew of a domain before the session. */
type AccountCatchAll = {
  readonly account: string;
  readonly domain: string;
  readonly state: CatchAllState;
};

/** By account and domain: what one account learnt is not another's. */
export const toAccountDomainKey = ({ requester, domain }: ProbeSubject): string =>
  `${requester.account} ${domain}`;

export const loadCatchAllStates = async (
  facts: CatchAllCache,
  batch: readonly ProbeSubject[],
): Promise<ReadonlyMap<string, AccountCatchAll>> => {
  const pairs = new Map(batch.map((one) => [toAccountDomainKey(one), one]));
  const found = [...pairs].map(
    async ([
      key,
      {
        domain,
        requester: { account },
      },
    ]) => {
      return [key, { account, domain, state: await facts.find(domain, account) }] as const;
    },
  );
  return new Map(await Promise.all(found));
};

/** One random recipient for each domain that somebody in the batch has no proof of. */
export const chooseRandomRecipients = (
  random: () => number,
  batch: readonly ProbeSubject[],
  known: ReadonlyMap<string, AccountCatchAll>,
): ReadonlyMap<string, string> => {
  const decoys = new Map<string, string>();
  for (const one of batch) {
    const { domain } = one;
    const state = known.get(toAccountDomainKey(one))?.state;
    if (one.probeCatchAll && state?.needsProof)
      decoys.set(
        domain,
        state.randomRecipient ?? decoys.get(domain) ?? createRandomRecipient(domain, random),
      );
  }
  return decoys;
};

/** What was known of the domains before the session, and the random recipients that were asked for them. */
type Preparation = {
  readonly states: ReadonlyMap<string, AccountCatchAll>;
  readonly randomRecipients: ReadonlyMap<string, string>;
};

/** What the session proved of the domains whose random recipient was asked; null where its answer proves nothing. */
export const learnCatchAll = async (
  cache: CatchAllCache,
  outcome: SessionOutcome,
  { states: known, randomRecipients: decoys }: Preparation,
): Promise<ReadonlyMap<string, ProvenCatchAll | null>> => {
  const proofs = new Map<string, ProvenCatchAll | null>();
  for (const { domain, reply } of outcome.result.catchAllProbes) {
    const proven = toCatchAll(reply, outcome.host);
    proofs.set(domain, proven ?? null);
    const recipient = decoys.get(domain);
    const isDeferred = recipient && reply && isDeferral(reply, outcome.host);
    for (const { account, state: before } of filterByDomain(known, domain)) {
      if (proven) await cache.storeCatchAll(domain, account, proven);
      else if (isDeferred && before.randomRecipient !== recipient)
        await cache.storeRandomRecipient(domain, account, recipient);
    }
  }
  return proofs;
};

const filterByDomain = (
  known: ReadonlyMap<string, AccountCatchAll>,
  wanted: string,
): readonly AccountCatchAll[] => [...known.values()].filter(({ domain }) => domain === wanted);
