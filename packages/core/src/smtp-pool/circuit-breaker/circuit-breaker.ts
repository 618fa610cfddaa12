import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import { REFUSED_WITNESS } from "@mailproof/mail/smtp/reply-rules/witness";
import { DIRECT_EXIT } from "@mailproof/mail/smtp/wire";
import type { Log } from "../../ports/world.ts";
import { type ProviderRefusal, redactRefusal } from "../refusal.ts";
import { type Circuit, countOpenings, isThrottle, type ReplyToUs } from "./circuit.ts";
import { type CircuitName, isLargeProvider } from "./circuit-items.ts";
import { type CircuitPorts, createSharedCircuits } from "./shared-circuits.ts";

/** The parts of a recipient that decide whether a refusal applies to it. */
export type CircuitSubject = DomainSubject & {
  /** The exits from which the provider refused a session with this recipient. */
  readonly refusedExits: readonly string[];
};

/** `isLasting`: a later attempt of the same verification would meet the same refusal. */
export type StandingRefusal = { readonly refusal: ProviderRefusal; readonly isLasting: boolean };

/**
 * `isTrial`: this session decides the exit's circuit. `domainTrial`: the session decides a domain's circuit. `openings`: those
 * of the exit's circuit when the session began.
 */
export type SessionAdmission = {
  readonly kind: "admitted";
  readonly exit: string;
  readonly isTrial: boolean;
  readonly domainTrial: CircuitName | null;
  readonly openings: number;
  readonly beganAtMs: number;
};

/** `refused`: the exit's circuit is open. `wait`: another session has the trial, and its replies decide. */
type Admission = SessionAdmission | { readonly kind: "refused" } | { readonly kind: "wait" };

/** A reply in a session. `about`: the recipient; null before RCPT. */
export type ObservedReply = {
  readonly about: Pick<DomainSubject, "domain" | "account"> | null;
  /** Null when the reply does not refuse us. */
  readonly refusal: ProviderRefusal | null;
};

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

type BreakerPorts = CircuitPorts & {
  /** The names of the exits, each with its own IP address. Absent when the process has one exit. */
  readonly exits?: readonly string[];
  readonly log?: Log;
};

/** Remembers which mail providers refuse us, by exit, and stops sessions that they would refuse. */
export const createCircuitBreaker = (ports: BreakerPorts) => {
  const { now, sleep, exits = [DIRECT_EXIT], log = () => undefined } = ports;
  const providers = createSharedCircuits(ports);
  // The domains that refuse us by their own choice belong to one account in one process: a result without a session would
  // show an account which domains others verify.
  const domains = createSharedCircuits({ now, sleep });
  const deferrals = createDeferrals(now);

  /** Lists the exits that this recipient may use, from this process's memory. */
  const listExits = (subject: CircuitSubject): readonly string[] => {
    const { providerKey, refusedExits } = subject;
    return exits.filter(
      (exit) =>
        !refusedExits.includes(exit) &&
        providers.getState({ providerKey, exit }) !== "open" &&
        domains.getState(toDomainName(subject, exit)) !== "open",
    );
  };

  /** Returns the refusal that every exit would get; null when an exit may ask about the recipient. Uses this process's memory. */
  const findRefusal = (subject: CircuitSubject): StandingRefusal | null => {
    const deferral = deferrals.find(subject);
    if (deferral) return { refusal: deferral, isLasting: false };
    if (listExits(subject).length > 0) return null;
    const { providerKey } = subject;
    const refusals = exits
      .flatMap((exit) => [
        providers.get({ providerKey, exit }),
        domains.get(toDomainName(subject, exit)),
      ])
      .flatMap((circuit) => circuit.refusal ?? []);
    const throttle = refusals.find(isThrottle);
    const refusal = throttle ?? refusals[0];
    return refusal ? { refusal, isLasting: !throttle } : null;
  };

  /** Call before a session by this exit. After a pause one session gets the trial; the others wait. */
  const admit = async (subject: CircuitSubject, exit: string): Promise<Admission> => {
    const name = { providerKey: subject.providerKey, exit };
    await providers.refresh(subject.providerKey, exits);
    if (!listExits(subject).includes(exit)) return { kind: "refused" };
    const domain = toDomainName(subject, exit);
    const domainTrial = domains.getState(domain) === "closed" ? null : domain;
    if (domainTrial && !(await domains.claimTrial(domainTrial))) return { kind: "wait" };
    const isTrial = providers.getState(name) !== "closed";
    if (isTrial && !(await providers.claimTrial(name))) {
      if (domainTrial) domains.endTrial(domainTrial);
      return { kind: "wait" };
    }
    const beganAtMs = now().getTime();
    const openings = countOpenings(providers.get(name), beganAtMs);
    return { kind: "admitted", exit, isTrial, domainTrial, openings, beganAtMs };
  };

  /** Call after a session, with its replies in their order. Never rejects. */
  const record = async (
    providerKey: string,
    { exit, domainTrial, ...session }: SessionAdmission,
    replies: readonly ObservedReply[],
  ): Promise<void> => {
    const { beganAtMs } = session;
    for (const { about, refusal } of replies) {
      if (!about) continue;
      const domain = toDomainName({ providerKey, ...about }, exit);
      const openings = countOpenings(domains.get(domain), now().getTime());
      // Every refusal counts, since all come from one domain.
      const reply = toReplyToUs({ about: null, refusal });
      void domains.apply(domain, [reply], { openings, beganAtMs, isTrial: false });
    }
    if (domainTrial) domains.endTrial(domainTrial);
    const name = { providerKey, exit };
    const opened = await providers.apply(name, replies.map(toReplyToUs), session);
    if (opened && isLargeProvider(providerKey)) logBlock(log, name, opened);
  };

  return { exits, listExits, findRefusal, admit, record, deferDomain: deferrals.set };
};

const toReplyToUs = ({ refusal, about }: ObservedReply): ReplyToUs =>
  refusal
    ? {
        kind: "refused",
        domain: about?.domain ?? null,
        refusal: redactRefusal(refusal),
        isProven: refusal.reply === REFUSED_WITNESS,
      }
    : { kind: "accepted" };

/** Logs the block for the operator: an alarm may count these lines by their name. */
const logBlock = (
  log: Log,
  { providerKey, exit }: CircuitName,
  { refusal, openUntilMs, openings }: Circuit,
): void =>
  log("mail_provider_blocked", {
    provider: providerKey,
    exit,
    until: new Date(openUntilMs).toISOString(),
    pauses: openings,
    reply: refusal && `${refusal.reply.code} ${refusal.reply.text}`,
  });

/**
 * A 421 about one domain holds for this long, so that its other recipients do not each end a session. Shorter than any
 * wait of a deferred row: the next attempt asks again.
 */
const DEFERRAL_MS = 5 * 60_000;
/** The number of deferred domains that a process remembers. It asks a forgotten domain again. */
const DOMAINS_MAX = 50_000;

/** One domain at a mail provider, as one account knows it. */
type DomainSubject = {
  readonly providerKey: string;
  readonly domain: string;
  readonly account: string;
};

type Deferral = { readonly refusal: ProviderRefusal; readonly untilMs: number };

const createDeferrals = (now: () => Date) => {
  const deferrals = createBoundedMap<Deferral>({ weightMax: DOMAINS_MAX });
  return {
    /** Call after a 421 about the domain: its other recipients get the same result for a while. */
    set: (subject: DomainSubject, refusal: ProviderRefusal): void => {
      const untilMs = now().getTime() + DEFERRAL_MS;
      deferrals.set(formatSubject(subject), { refusal: redactRefusal(refusal), untilMs });
    },
    find: (subject: DomainSubject): ProviderRefusal | null => {
      const deferral = deferrals.get(formatSubject(subject));
      return deferral && deferral.untilMs > now().getTime() ? deferral.refusal : null;
    },
  };
};

const toDomainName = (subject: DomainSubject, exit: string): CircuitName => ({
  providerKey: formatSubject(subject),
  exit,
});

const formatSubject = ({ providerKey, account, domain }: DomainSubject): string =>
  `${providerKey} ${account} ${domain}`;
