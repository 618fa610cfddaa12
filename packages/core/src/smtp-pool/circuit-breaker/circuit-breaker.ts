import { REFUSED_WITNESS } from "@mailproof/mail/smtp/reply-rules/witness";
import { DIRECT_EXIT } from "@mailproof/mail/smtp/wire";
import type { Log } from "../../ports/world.ts";
import type { ProviderRefusal } from "../refusal.ts";
import { redactRefusal } from "../refusal.ts";
import { type Circuit, countOpenings, isThrottle, type ReplyToUs } from "./circuit.ts";
import { type CircuitName, isLargeProvider } from "./circuit-items.ts";
import { createDomainCircuits, type DomainSubject } from "./domain-circuits.ts";
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
  readonly domainTrial: DomainSubject | null;
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
  const { now, exits = [DIRECT_EXIT], log = () => undefined } = ports;
  const providers = createSharedCircuits(ports);
  const domains = createDomainCircuits(now);

  /** Lists the exits that this recipient may use, from this process's memory. */
  const listExits = (subject: CircuitSubject): readonly string[] => {
    const { providerKey, refusedExits } = subject;
    return exits.filter(
      (exit) =>
        !refusedExits.includes(exit) &&
        providers.getState({ providerKey, exit }) !== "open" &&
        domains.getState(subject, exit) !== "open",
    );
  };

  /** Returns the refusal that every exit would get; null when an exit may ask about the recipient. Uses this process's memory. */
  const findRefusal = (subject: CircuitSubject): StandingRefusal | null => {
    const deferral = domains.findDeferral(subject);
    if (deferral) return { refusal: deferral, isLasting: false };
    if (listExits(subject).length > 0) return null;
    const { providerKey } = subject;
    const refusals = exits
      .flatMap((exit) => [providers.get({ providerKey, exit }), domains.get(subject, exit)])
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
    const domainTrial = domains.getState(subject, exit) === "closed" ? null : subject;
    if (domainTrial && !domains.claimTrial(subject, exit)) return { kind: "wait" };
    const isTrial = providers.getState(name) !== "closed";
    if (isTrial && !(await providers.claimTrial(name))) {
      if (domainTrial) domains.endTrial(subject, exit);
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
      const reply = toReplyToUs({ about, refusal });
      if (about) domains.apply({ providerKey, ...about }, exit, { reply, beganAtMs });
    }
    if (domainTrial) domains.endTrial(domainTrial, exit);
    const name = { providerKey, exit };
    const opened = await providers.apply(name, replies.map(toReplyToUs), session);
    if (opened && isLargeProvider(providerKey)) logBlock(log, name, opened);
  };

  const deferDomain = (subject: DomainSubject, refusal: ProviderRefusal): void =>
    domains.defer(subject, redactRefusal(refusal));

  return { exits, listExits, findRefusal, admit, record, deferDomain };
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
