import { type Address, type AddressText, toSmtpForm } from "@mailproof/mail/address";
import { readAddress } from "@mailproof/mail/address-cell";
import type { DnsFault, RecordedQuery } from "@mailproof/mail/dns/mail-hosts";
import type { Lists } from "@mailproof/mail/lists/lists";
import {
  findMailProvider,
  mayAcceptThenBounce,
  rejectsUnknownRecipients,
} from "@mailproof/mail/mail-providers";
import { findLongName, findUngivenName, hasUnusualLength } from "@mailproof/mail/name-rules";
import { BOT_THRESHOLD, scoreBotLikeness } from "@mailproof/mail/signals/bot";
import { parsePersonName } from "@mailproof/mail/signals/person-name";
import {
  type AccountHistory,
  type DomainHistory,
  NO_DOMAIN_HISTORY,
} from "../calibration/account-history.ts";
import { getRemainingWaitMs } from "../lib/timeout.ts";
import type { Requester, Ticket } from "../smtp-pool/fairness.ts";
import type { ProbeResult } from "../smtp-pool/probe.ts";
import { createUnansweredResult } from "../smtp-pool/results.ts";
import { createAiFields, estimateMailbox } from "./ai-fields.ts";
import { toChecks } from "./checks.ts";
import type { Engine } from "./engine.ts";
import { collectEvidence } from "./evidence.ts";
import { findSubStatus, isCatchAllInQuestion, judge } from "./judge.ts";
import { planLaterAttempt } from "./later-attempt.ts";
import {
  findProviderDoubts,
  NO_DOUBTS,
  type ProviderDoubts,
  planRandomRecipient,
} from "./provider-beliefs.ts";
import { type Verification } from "./result.ts";
import { type DomainSignal, type Signals, UNLISTED } from "./signals.ts";
import { toEmail } from "./split-roughly.ts";
import { ADDRESS_LITERAL } from "./unpaid-results.ts";

export type VerifyOptions = {
  /** False: syntax, lists and DNS only; no mail server is asked. */
  readonly deepVerify: boolean;
  readonly includeAi: boolean;
  readonly includeEvidence: boolean;
  /** Absent when the process verifies for only one person. */
  readonly requester?: Requester;
  /** Absent when earlier facts do not count in the verdict. */
  readonly history?: AccountHistory | undefined;
  /** Set when the address returns for a slot that it did not find earlier. */
  readonly ticket?: Ticket | undefined;
  readonly exit?: string | undefined;
  readonly isPatient?: boolean | undefined;
  /** The time that the caller waits for the result. Absent when the caller waits without a limit. */
  readonly waitMs?: number | undefined;
};

export const verify = (
  engine: Engine,
  text: string,
  options: VerifyOptions,
): Promise<Verification> => verifyAddress(engine, readAddress(text), options);

/** Verifies one address. Never rejects because of the network: DNS and SMTP failures become a result. */
export const verifyAddress = async (
  { lists, ...others }: Engine,
  email: AddressText,
  options: VerifyOptions,
): Promise<Verification> => {
  const engine = { ...others, lists: lists.current() };
  const { requester } = options;
  await engine.yieldToCallers(requester);
  const { address } = email;
  if (!address)
    return report(engine, createVerification(engine, lookUpText(engine, email), options));
  const listed = findListings(engine.lists, address);
  const deepVerify = options.deepVerify && !listed.trap && findUngivenName(address) === null;
  const domainLookup = await lookUpDomain(engine, address, { ...options, deepVerify });
  await engine.yieldToCallers(requester);
  const { history } = options;
  const bouncedAt = (await history?.findBounce(address)) ?? null;
  const lookup = { ...email, listed, ...domainLookup, bouncedAt };
  const signals = toSignals(engine, lookup);
  // Only an estimate needs the domain's history.
  const domainHistory =
    (isCatchAllInQuestion(signals) && (await history?.findDomain(address.domain))) ||
    NO_DOMAIN_HISTORY;
  return report(engine, createVerification(engine, { ...lookup, domainHistory }, options, signals));
};

const report = (engine: Engine, result: Verification): Verification => {
  engine.onVerification(result);
  return result;
};

/** Creates the result of an address whose mail server could not be asked, from syntax, lists and this reason. */
export const createUnprobedResult = (
  engine: Engine,
  text: string,
  reason: string,
): Verification => {
  const result = createVerification(engine, lookUpText(engine, readAddress(text)), {
    deepVerify: true,
    includeAi: true,
    includeEvidence: false,
  });
  return result.status === "unknown" ? { ...result, reason } : result;
};

export const createControlledResult = (
  { lists, ...others }: Engine,
  email: AddressText,
): Verification => {
  const engine = { ...others, lists: lists.current() };
  const lookup = lookUpText(engine, email);
  const signals = { ...toSignals(engine, lookup), isControlled: true } as const;
  const everything = { deepVerify: false, includeAi: true, includeEvidence: true };
  return report(engine, createVerification(engine, lookup, everything, signals));
};

const lookUpText = ({ lists }: Engine, email: AddressText): AddressLookup => ({
  ...email,
  listed: email.address ? findListings(lists, email.address) : UNLISTED,
  ...NOT_LOOKED_UP,
});

type AddressLookup = AddressText & {
  readonly listed: Signals["listed"];
  readonly domain: DomainSignal;
  readonly dnsQueries: readonly RecordedQuery[];
  /** A resolver, or a filter of our own network, refuses the name and would refuse it again. */
  readonly isNameRefused: boolean;
  readonly mailHost: string | null;
  readonly probeResult: ProbeResult | null;
  readonly doubts: ProviderDoubts;
  /** The time when the account's own mail to this address bounced; null when no bounce is known. */
  readonly bouncedAt: string | null;
  readonly domainHistory: DomainHistory;
};

type DomainLookup = Pick<
  AddressLookup,
  | "domain"
  | "dnsQueries"
  | "isNameRefused"
  | "mailHost"
  | "probeResult"
  | "doubts"
  | "bouncedAt"
  | "domainHistory"
>;

const NOT_LOOKED_UP: DomainLookup = {
  domain: "not_asked",
  dnsQueries: [],
  isNameRefused: false,
  mailHost: null,
  probeResult: null,
  doubts: NO_DOUBTS,
  bouncedAt: null,
  domainHistory: NO_DOMAIN_HISTORY,
};
export const findListings = (
  lists: Lists,
  { local, domain, canonical }: Address,
): Signals["listed"] => ({
  trap: lists.trap(canonical, domain),
  disposable: lists.disposable(domain),
  disposableHint: lists.disposableHint(domain),
  role: lists.role(local),
  free: lists.free(domain),
  squat: lists.squat(domain),
});

const lookUpDomain = async (
  engine: Engine,
  address: Address,
  { deepVerify, requester, ticket, exit, isPatient, waitMs }: VerifyOptions,
): Promise<DomainLookup> => {
  const startedAtMs = engine.now().getTime();
  // An address literal contains the host itself, without a domain to look up, and a client could use it to reach hosts of its choice.
  if (address.literal !== null) return { ...NOT_LOOKED_UP, domain: ADDRESS_LITERAL };
  const mailHosts = await engine.findMailHosts(address.domain, requester?.account);
  const { dnsQueries } = mailHosts;
  if (mailHosts.kind === "inconclusive") {
    const domain = toDnsReason(mailHosts.why);
    return domain === "internal"
      ? { ...NOT_LOOKED_UP, dnsQueries, probeResult: createUnansweredResult(toSmtpForm(address)) }
      : { ...NOT_LOOKED_UP, domain, dnsQueries, isNameRefused: mailHosts.why === "refused" };
  }
  if (mailHosts.kind !== "hosts") return { ...NOT_LOOKED_UP, domain: mailHosts.kind, dnsQueries };

  const { hosts, implicit } = mailHosts;
  const domain = implicit ? "implicit_mail_host" : "mail_host";
  const mailHost = hosts[0]?.host ?? null;
  if (!deepVerify) return { ...NOT_LOOKED_UP, domain, dnsQueries, mailHost };
  const probeResult = await engine.probe({
    recipient: toSmtpForm(address),
    domain: address.domain,
    hosts,
    ...planRandomRecipient(engine.beliefs, address.domain, mailHost),
    ...(requester && { requester }),
    ...(ticket && { ticket }),
    ...(exit !== undefined && { exit }),
    ...(isPatient && { isPatient }),
    ...(waitMs !== undefined && { waitMs: getRemainingWaitMs(engine, startedAtMs, waitMs) }),
  });
  return {
    ...NOT_LOOKED_UP,
    domain,
    dnsQueries,
    mailHost: probeResult.host || mailHost,
    probeResult,
    doubts: await findProviderDoubts(engine.beliefs, probeResult.host || mailHost),
  };
};

export const toDnsReason = (
  why: DnsFault,
): "dns_inconclusive" | "dns_answer_too_large" | "internal" => {
  if (why === "internal") return why;
  return why === "too_large" ? "dns_answer_too_large" : "dns_inconclusive";
};

export const toSignals = (engine: Engine, lookup: AddressLookup): Signals => {
  const { address, fault, listed, domain, probeResult, mailHost, bouncedAt, doubts } = lookup;
  const isBelieved = address !== null && rejectsUnknownRecipients(address.domain, mailHost);
  const isDoubted = doubts.acceptsUnknown || probeResult?.catchAll === "yes";
  const relayed = address !== null && engine.lists.relay(address.domain);
  return {
    syntaxFault: fault,
    domain,
    listed,
    mailbox: probeResult?.finding ?? null,
    catchAll: probeResult?.catchAll ?? "not_tested",
    acceptsThenBounces:
      doubts.bouncesLater || (address !== null && mayAcceptThenBounce(address.domain, mailHost)),
    rejectsUnknownRecipients: isBelieved && !isDoubted,
    acceptsUnknownRecipients: isBelieved && isDoubted,
    bounced: bouncedAt !== null,
    nameFault: address && (findUngivenName(address)?.reason ?? null),
    hasUnusualLength: address !== null && hasUnusualLength(address),
    longName: address && findLongName(address),
    // A privacy relay assigns random local parts to people who read their mail.
    botLikeness: address === null || relayed ? 0 : scoreBotLikeness(address.local),
    encrypted: probeResult?.encrypted ?? false,
  };
};

const createVerification = (
  engine: Engine,
  lookup: AddressLookup,
  options: VerifyOptions,
  signals = toSignals(engine, lookup),
): Verification => {
  const { address, listed, probeResult, mailHost } = lookup;
  const mailProvider = mailHost === null ? null : findMailProvider(mailHost);
  const catchAllConfidence = isCatchAllInQuestion(signals) ? estimateMailbox(lookup) : null;
  const judged = judge(signals, catchAllConfidence);
  const retry = probeResult?.finding.retry ?? (isWorthRetrying(lookup) ? "later" : null);
  return {
    email: toEmail(lookup),
    status: judged.status,
    score: judged.score,
    reason: judged.reason,
    subStatus: findSubStatus(judged, signals),
    provider: mailProvider?.name ?? null,
    verification: toChecks(signals),
    flags: {
      disposable: listed.disposable,
      disposableHint: listed.disposableHint,
      roleAccount: listed.role !== null,
      freeProvider: listed.free,
      spamTrap: listed.trap,
      // No public list contains honeypots that are not spam traps, and this flag is never guessed.
      honeypot: false,
      botGenerated: signals.botLikeness >= BOT_THRESHOLD,
      forwardingMx: mailProvider?.isForwarder === true,
    },
    enrichment: parsePersonName(address?.local ?? "", listed.role !== null),
    ...(options.includeAi && { ai: createAiFields(engine, lookup, signals, judged) }),
    ...(options.includeEvidence && {
      evidence: collectEvidence(lookup, { signals, catchAllConfidence }, judged, engine.lists),
    }),
    retry,
    ...planLaterAttempt(judged, { retry, probeResult, mailHost }),
    verifiedAt: engine.now().toISOString(),
  };
};

/** An overloaded or unreachable resolver may answer later. */
const isWorthRetrying = ({ domain, isNameRefused }: AddressLookup): boolean =>
  domain === "dns_inconclusive" && !isNameRefused;
