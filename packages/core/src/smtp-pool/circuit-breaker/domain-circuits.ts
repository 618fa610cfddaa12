import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import { isUnexpired } from "../../lib/time.ts";
import type { ProviderRefusal } from "../refusal.ts";
import {
  applyReplies,
  type Circuit,
  CLOSED,
  countOpenings,
  getCircuitState,
  type ReplyToUs,
} from "./circuit.ts";
import { TRIAL_LEASE_MS } from "./shared-circuits.ts";

/**
 * A 421 about one domain holds for this long, so that its other recipients do not each end a session. Shorter than any
 * wait of a deferred row: the next attempt asks again.
 */
const DEFERRAL_MS = 5 * 60_000;
/** The number of domains that a process remembers. It asks a forgotten domain again. */
const DOMAINS_MAX = 50_000;

/** One domain at a mail provider, as one account knows it. */
export type DomainSubject = {
  readonly providerKey: string;
  readonly domain: string;
  readonly account: string;
};

type Deferral = { readonly refusal: ProviderRefusal; readonly untilMs: number };

/**
 * The domains that refuse us by their own choice. They belong to one account in one process: a result without a session
 * would show an account which domains others verify.
 */
export const createDomainCircuits = (now: () => Date) => {
  const circuits = createBoundedMap<Circuit>({ weightMax: DOMAINS_MAX });
  const deferrals = createBoundedMap<Deferral>({ weightMax: DOMAINS_MAX });
  const trials = new Map<string, number>();
  const getMs = () => now().getTime();
  const get = (subject: DomainSubject, exit: string): Circuit =>
    circuits.get(`${exit} ${formatSubject(subject)}`) ?? CLOSED;

  return {
    get,
    getState: (subject: DomainSubject, exit: string) =>
      getCircuitState(get(subject, exit), getMs()),

    /** Every refusal counts, since all come from one domain. */
    apply: (
      subject: DomainSubject,
      exit: string,
      { reply, beganAtMs }: { readonly reply: ReplyToUs; readonly beganAtMs: number },
    ): void => {
      const before = get(subject, exit);
      const own: ReplyToUs = reply.kind === "refused" ? { ...reply, domain: null } : reply;
      const openings = countOpenings(before, getMs());
      const after = applyReplies(before, [own], { openings, beganAtMs, atMs: getMs() });
      const key = `${exit} ${formatSubject(subject)}`;
      if (after === CLOSED) circuits.delete(key);
      else if (after !== before) circuits.set(key, after);
    },

    /** After a pause, one session decides the domain's circuit. False: another session has this trial. */
    claimTrial: (subject: DomainSubject, exit: string): boolean => {
      const key = `${exit} ${formatSubject(subject)}`;
      if (isUnexpired(trials.get(key) ?? 0, getMs(), TRIAL_LEASE_MS)) return false;
      trials.set(key, getMs() + TRIAL_LEASE_MS);
      return true;
    },
    endTrial: (subject: DomainSubject, exit: string): void =>
      void trials.delete(`${exit} ${formatSubject(subject)}`),

    /** Call after a 421 about the domain: its other recipients get the same result for a while. */
    defer: (subject: DomainSubject, refusal: ProviderRefusal): void =>
      deferrals.set(formatSubject(subject), { refusal, untilMs: getMs() + DEFERRAL_MS }),

    findDeferral: (subject: DomainSubject): ProviderRefusal | null => {
      const deferral = deferrals.get(formatSubject(subject));
      return deferral && deferral.untilMs > getMs() ? deferral.refusal : null;
    },
  };
};

const formatSubject = ({ providerKey, account, domain }: DomainSubject): string =>
  `${providerKey} ${account} ${domain}`;
