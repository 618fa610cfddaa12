import { getDomain } from "@mailproof/mail/address";
import { findMailProvider } from "@mailproof/mail/mail-providers";
import {
  classify,
  type Finding,
  isDeferral,
  toWords,
  UNMATCHED_PERMANENT,
} from "@mailproof/mail/smtp/classify";
import type { SessionOutcome } from "@mailproof/mail/smtp/connect";
import { createRandomRecipient } from "@mailproof/mail/smtp/converse";
import type { Reply } from "@mailproof/mail/smtp/reply";
import type { RecipientResult } from "@mailproof/mail/smtp/session";
import type { CatchAllCache, CatchAllState, ProvenCatchAll } from "./catch-all-cache.ts";
import type { PendingProbe } from "./probe.ts";

// The catch-all probe decides whether a session names a random recipient, and what the reply proves about the domain.
// Accounts do not share this knowledge.

type ProbeSubject = Pick<PendingProbe, "requester" | "domain" | "probeCatchAll" | "isCanary">;

/** The account's knowledge about a domain before the session. */
type AccountCatchAll = {
  readonly account: string;
  readonly domain: string;
  readonly state: CatchAllState;
};

/** The key contains the account, because accounts do not share their knowledge of a domain. */
export const toAccountDomainKey = ({ requester, domain }: ProbeSubject): string =>
  `${requester.account} ${domain}`;

export const loadCatchAllStates = async (
  cache: CatchAllCache,
  batch: readonly ProbeSubject[],
): Promise<ReadonlyMap<string, AccountCatchAll>> => {
  const pairs = new Map(batch.map((one) => [toAccountDomainKey(one), one]));
  const found = [...pairs].map(async ([key, { domain, requester }]) => {
    const { account } = requester;
    return [key, { account, domain, state: await cache.find(domain, account) }] as const;
  });
  return new Map(await Promise.all(found));
};

type JobGroups = ReadonlyMap<string, readonly ProbeSubject[]>;

/** Groups recipients by job and domain. A recipient without a job is in no group. */
export const groupByJob = (batch: readonly ProbeSubject[]): JobGroups =>
  Map.groupBy(
    batch.filter(({ requester }) => requester.job !== undefined),
    ({ requester, domain }) => `${requester.job} ${domain}`,
  );

/** A refusal proves nothing about the domain's other mail hosts, of which one may accept every recipient. */
const toHostKey = (group: string, host: string): string => `${group} ${host}`;

/** Lists the recipients whose job already proved a refusal at this mail host, so that they need no further random recipient. */
export const findProvenBefore = (
  cache: CatchAllCache,
  jobs: JobGroups,
  host: string,
): ReadonlySet<ProbeSubject> =>
  new Set(
    [...jobs].flatMap(([group, same]) =>
      cache.hasRefusal({ key: toHostKey(group, host), count: same.length }) ? same : [],
    ),
  );

/** Counts the recipients that the session accepted with a proof: a refusal in this session or in an earlier one of the job. */
export const countAcceptances = (
  cache: CatchAllCache,
  { batch, jobs }: { readonly batch: readonly ProbeSubject[]; readonly jobs: JobGroups },
  { host, result }: SessionOutcome,
  proofs: ReadonlyMap<string, ProvenCatchAll | null>,
): void => {
  const verdicts = new Map(
    result.recipients.flatMap(({ reply, stage }, at) => {
      const one = batch[at];
      const { verdict } = (reply && classify(reply, { stage: "rcpt", mxHost: host })) ?? {};
      return one && stage === "rcpt" && verdict ? [[one, verdict] as const] : [];
    }),
  );
  for (const [group, same] of jobs) {
    const found = same.map((one) => verdicts.get(one));
    const isRandom = proofs.get(same[0]?.domain ?? "") === "no";
    const refused = isRandom ? "random" : found.includes("invalid") ? "other" : null;
    const count = found.filter((verdict) => verdict === "valid").length;
    cache.countSession({ key: toHostKey(group, host), count }, refused);
  }
};

/** Chooses one random recipient for each domain that needs a proof or gets a canary. */
export const chooseRandomRecipients = (
  random: () => number,
  proven: ReadonlySet<ProbeSubject>,
  batch: readonly ProbeSubject[],
  states: ReadonlyMap<string, AccountCatchAll>,
): ReadonlyMap<string, string> => {
  const randomRecipients = new Map<string, string>();
  for (const one of batch) {
    const { domain } = one;
    const state = states.get(toAccountDomainKey(one))?.state;
    if (one.probeCatchAll && state && !state.acceptsEveryone && !proven.has(one))
      randomRecipients.set(
        domain,
        state.randomRecipient ??
          randomRecipients.get(domain) ??
          createRandomRecipient(domain, random),
      );
    else if (one.isCanary && !randomRecipients.has(domain))
      randomRecipients.set(domain, createRandomRecipient(domain, random));
  }
  return randomRecipients;
};

/** The catch-all states before the session, and the random recipients that it asks about. */
type Preparation = {
  readonly batch: readonly ProbeSubject[];
  readonly states: ReadonlyMap<string, AccountCatchAll>;
  readonly randomRecipients: ReadonlyMap<string, string>;
  /** The host that replied is a backup; a backup that accepts everybody proves nothing about the domain. */
  readonly isBackup: boolean;
};

/** Returns what the replies about random recipients prove about their domains; null when a reply proves nothing. */
export const learnCatchAll = async (
  { catchAllCache: cache, canaries }: LearnPorts,
  outcome: SessionOutcome,
  { batch, states, randomRecipients, isBackup }: Preparation,
): Promise<ReadonlyMap<string, ProvenCatchAll | null>> => {
  const proofs = new Map<string, ProvenCatchAll | null>();
  for (const { domain, reply } of outcome.result.catchAllProbes) {
    const shown = toCatchAll(reply, outcome, domain);
    const proven = isBackup && shown === "yes" ? undefined : shown;
    proofs.set(domain, proven ?? null);
    if (isCanaryOnly(batch, domain)) {
      const { name } = findMailProvider(outcome.host);
      if (proven) await canaries?.record(name, proven === "yes" ? "accepted" : "refused");
      continue;
    }
    const recipient = randomRecipients.get(domain);
    const isDeferred = recipient && reply && isDeferral(reply, outcome.host);
    for (const { account, state: before } of filterByDomain(states, domain)) {
      if (proven) await cache.storeProof(domain, account, proven, before);
      else if (isDeferred && before.randomRecipient !== recipient)
        await cache.storeRandomRecipient(domain, account, recipient);
    }
  }
  return proofs;
};

/** Counts how a mail provider replied to a canary. */
export type CanaryRecord = {
  readonly record: (provider: string, reply: "accepted" | "refused") => Promise<void>;
};

type LearnPorts = {
  readonly catchAllCache: CatchAllCache;
  readonly canaries?: CanaryRecord;
};

/** A canary tests the provider, so its reply is not stored with the domain. */
const isCanaryOnly = (batch: readonly ProbeSubject[], wantedDomain: string): boolean =>
  !batch.some(({ domain, probeCatchAll }) => domain === wantedDomain && probeCatchAll);

const filterByDomain = (
  states: ReadonlyMap<string, AccountCatchAll>,
  wantedDomain: string,
): readonly AccountCatchAll[] =>
  [...states.values()].filter(({ domain }) => domain === wantedDomain);

/** Reads the reply about a random recipient. A lost or deferred reply and a refusal of us prove nothing. */
const toCatchAll = (
  reply: Reply | null,
  { host, result }: SessionOutcome,
  domain: string,
): ProvenCatchAll | undefined => {
  if (!reply) return undefined;
  const { verdict, rule } = classify(reply, { stage: "rcpt", mxHost: host });
  if (verdict === "valid") return "yes";
  if (verdict === "invalid") return "no";
  // No rule knows the words. The server accepted another recipient in this session, so the words are about this recipient.
  const isContrast = rule === UNMATCHED_PERMANENT && hasAccepted(result, domain);
  return isContrast ? "no" : undefined;
};

const hasAccepted = ({ recipients }: SessionOutcome["result"], domain: string): boolean =>
  recipients.some(
    ({ recipient, stage, reply }) =>
      stage === "rcpt" &&
      reply !== null &&
      reply.code < 300 &&
      getDomain(recipient).toLowerCase() === domain,
  );

/**
 * The words with which the server refused the random recipient of each domain, where it accepted another recipient in the
 * same session: it refuses unknown mailboxes in these words, in whatever language.
 */
export const findContrasts = (
  { host, result }: SessionOutcome,
  randomRecipients: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> =>
  new Map(
    result.catchAllProbes.flatMap(({ domain, reply }) =>
      reply &&
      classify(reply, { stage: "rcpt", mxHost: host }).rule === UNMATCHED_PERMANENT &&
      hasAccepted(result, domain)
        ? [[domain, toWords(reply, randomRecipients.get(domain) ?? "")] as const]
        : [],
    ),
  );

/** Reads a refusal as a refusal of the mailbox when its words match those of a contrast. */
export const readByContrast = (
  finding: Finding,
  { recipient, reply }: Pick<RecipientResult, "recipient" | "reply">,
  contrast: string | undefined,
): Finding =>
  reply && finding.rule === UNMATCHED_PERMANENT && contrast === toWords(reply, recipient)
    ? {
        ...finding,
        verdict: "invalid",
        reason: "mailbox_not_found",
        rule: "contrast",
        confidence: 0.8,
      }
    : finding;
