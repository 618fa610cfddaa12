import { type Address, isAddress, parseAddress, smtpForm } from "../mail/address.ts";
import type { Asked } from "../mail/dns/recorded.ts";
import type { Lists } from "../mail/lists/lists.ts";
import { popularProviders } from "../mail/lists/providers.ts";
import type { Fault } from "../mail/mail-hosts.ts";
import { type Provider, providerOf } from "../mail/smtp/limits.ts";
import { BOT_FROM, botLikeness } from "./bot.ts";
import { catchAllConfidence } from "./catch-all.ts";
import type { Engine } from "./engine.ts";
import { evidenceOf } from "./evidence.ts";
import {
  type DomainSignal,
  isCatchAllInQuestion,
  isUndecided,
  type Judgement,
  judge,
  type Signals,
} from "./judge.ts";
import { namesOf } from "./names.ts";
import type { Answer } from "./recipient-check.ts";
import type { Requester } from "./requester.ts";
import { NOT_PROBED, type Verification } from "./result.ts";
import { retryCauseOf } from "./retry.ts";
import { suggestTypo } from "./typo.ts";
import { unanswered } from "./unasked.ts";

export type Options = {
  /** False: syntax, lists and DNS only; no mail server is asked. */
  readonly deepVerify: boolean;
  readonly includeAi: boolean;
  readonly includeEvidence: boolean;
  /** Absent: the process verifies for one person alone. */
  readonly requester?: Requester;
};

/** One address, from its letters to its verdict. Never rejects for what the internet does. */
export const verify = async (
  engine: Engine,
  text: string,
  options: Options,
): Promise<Verification> => {
  const parsed = parseAddress(text);
  if (!isAddress(parsed)) {
    const found = { text, address: null, fault: parsed.fault, listed: UNLISTED, ...NOT_ASKED };
    return told(engine, found, options);
  }
  const listed = listedAs(engine.lists, parsed);
  const deepVerify = options.deepVerify && !listed.trap;
  const looked = await lookUp(engine, parsed, { ...options, deepVerify });
  return told(engine, { text, address: parsed, fault: null, listed, ...looked }, options);
};

/** What can be told of an address that nobody could ask about: its letters and the lists, and why no more. */
export const unprobed = (engine: Engine, text: string, reason: string): Verification => {
  const parsed = parseAddress(text);
  const found = isAddress(parsed)
    ? { text, address: parsed, fault: null, listed: listedAs(engine.lists, parsed), ...NOT_ASKED }
    : { text, address: null, fault: parsed.fault, listed: UNLISTED, ...NOT_ASKED };
  const result = told(engine, found, { deepVerify: true, includeAi: true, includeEvidence: false });
  return result.status === "unknown" ? { ...result, reason } : result;
};

/** Everything that was found out, before it is judged. */
export type Found = {
  readonly text: string;
  readonly address: Address | null;
  readonly fault: string | null;
  readonly listed: Signals["listed"];
  readonly domain: DomainSignal;
  readonly asked: readonly Asked[];
  readonly mailHost: string | null;
  readonly answer: Answer | null;
};

type Looked = Pick<Found, "domain" | "asked" | "mailHost" | "answer">;

const NOT_ASKED: Looked = { domain: "not_asked", asked: [], mailHost: null, answer: null };
const UNLISTED: Signals["listed"] = {
  trap: false,
  disposable: false,
  disposableHint: false,
  role: null,
  free: false,
  squat: false,
};

export const listedAs = (
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

/**
 * Domains of consumer providers that refuse strangers at RCPT, which nobody can switch off: a decoy would only
 * annoy. By exact name, and only where the provider's own host answers: gmail.co is somebody else's.
 */
const REFUSE_STRANGERS: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  ["gmail.com", "google"],
  ["googlemail.com", "google"],
  ["outlook.com", "microsoft_consumer"],
  ["hotmail.com", "microsoft_consumer"],
  ["live.com", "microsoft_consumer"],
  ["msn.com", "microsoft_consumer"],
  ["icloud.com", "icloud"],
  ["me.com", "icloud"],
  ["mac.com", "icloud"],
]);

export const refusesStrangers = (domain: string, mailHost: string | null): boolean =>
  mailHost !== null && REFUSE_STRANGERS.get(domain) === providerOf(mailHost);

/** Providers that may accept at RCPT whom they refuse after the message. */
const ACCEPT_THEN_BOUNCE: ReadonlySet<Provider> = new Set<Provider>(["yahoo"]);

const lookUp = async (
  engine: Engine,
  address: Address,
  { deepVerify, requester }: Options,
): Promise<Looked> => {
  // Nobody looks up where mail for an address literal goes: it names the host itself, and hosts that are not ours
  // to name could be reached that way.
  if (address.literal !== null) return NOT_ASKED;
  const found = await engine.hostsOf(address.domain, requester?.account);
  const { asked } = found;
  if (found.kind === "inconclusive") {
    const answer = found.why === "internal" ? unanswered(smtpForm(address)) : null;
    return { ...NOT_ASKED, domain: undecidedBy(found.why), asked, answer };
  }
  if (found.kind !== "hosts") return { ...NOT_ASKED, domain: found.kind, asked };

  const { hosts, implicit } = found;
  const domain = implicit ? "implicit_mail_host" : "mail_host";
  const mailHost = hosts[0]?.host ?? null;
  if (!deepVerify) return { domain, asked, mailHost, answer: null };
  const answer = await engine.probe({
    recipient: smtpForm(address),
    domain: address.domain,
    hosts,
    decoy: !refusesStrangers(address.domain, mailHost),
    ...(requester && { requester }),
  });
  return { domain, asked, mailHost: answer.host || mailHost, answer };
};

export const undecidedBy = (why: Fault): "dns_inconclusive" | "dns_answer_too_large" =>
  why === "too_large" ? "dns_answer_too_large" : "dns_inconclusive";

/** What was found out, as what a verdict is made of. */
export const signalsOf = (engine: Engine, found: Found): Signals => {
  const { address, fault, listed, domain, answer, mailHost } = found;
  const relayed = address !== null && engine.lists.relay(address.domain);
  return {
    syntaxFault: fault,
    domain,
    listed,
    mailbox: answer?.finding ?? null,
    catchAll: answer?.catchAll ?? "not_tested",
    acceptsThenBounces: mailHost !== null && ACCEPT_THEN_BOUNCE.has(providerOf(mailHost)),
    refusesStrangers: address !== null && refusesStrangers(address.domain, mailHost),
    // A privacy relay draws local parts by lot for people who really read them.
    botLikeness: address === null || relayed ? 0 : botLikeness(address.local),
    encrypted: answer?.encrypted ?? false,
  };
};

const told = (engine: Engine, found: Found, options: Options): Verification => {
  const { address, listed, answer, mailHost } = found;
  const signals = signalsOf(engine, found);
  const judged = judge(signals);
  const retry = answer?.finding.retry ?? (isWorthAskingAgain(found) ? "later" : null);
  const retryCause = retryCauseOf({
    status: judged.status,
    reason: judged.reason,
    retry,
    rule: answer?.finding.rule ?? null,
    code: answer?.reply?.code ?? null,
  });
  return {
    email: address?.display ?? found.text.trim().slice(0, TEXT_MAX),
    status: judged.status,
    score: judged.score,
    reason: judged.reason,
    subStatus: subStatusOf(judged, signals),
    provider: mailHost === null ? null : providerOf(mailHost),
    verification: checksOf(signals),
    flags: {
      disposable: listed.disposable,
      roleAccount: listed.role !== null,
      freeProvider: listed.free,
      spamTrap: listed.trap,
      // There is no public list of honeypots that are not spam traps; this is never guessed.
      honeypot: false,
      botGenerated: signals.botLikeness >= BOT_FROM,
    },
    enrichment: namesOf(address?.local ?? "", listed.role !== null),
    ...(options.includeAi && { ai: aiOf(found, signals) }),
    ...(options.includeEvidence && { evidence: evidenceOf(found, judged, engine.lists.versions) }),
    retry,
    ...(retryCause && { retryCause }),
    verifiedAt: engine.now().toISOString(),
  };
};

const TEXT_MAX = 320;

/** A resolver that is overburdened or unreachable may answer later; one that refuses a name will refuse it again. */
const isWorthAskingAgain = ({ domain, asked }: Found): boolean =>
  domain === "dns_inconclusive" && asked.every(({ kind }) => kind !== "refused");

const subStatusOf = ({ reason }: Judgement, { mailbox, domain }: Signals): string | null => {
  const found = mailbox?.reason ?? REASON_WITHOUT_ANSWER[domain] ?? reason;
  return found === reason ? null : found;
};

/** Why no mail server said anything. A domain without one leaves nothing to say. */
const REASON_WITHOUT_ANSWER: { readonly [domain in DomainSignal]?: string } = {
  mail_host: NOT_PROBED,
  implicit_mail_host: NOT_PROBED,
  dns_inconclusive: "dns_inconclusive",
  dns_answer_too_large: "dns_answer_too_large",
};

const hasMailHost = (domain: DomainSignal): boolean =>
  domain === "mail_host" || domain === "implicit_mail_host";

/** Each is true when it was proven, and false otherwise: a domain that could not be looked up is not "missing". */
const checksOf = (signals: Signals): Verification["verification"] => {
  const { domain, mailbox, catchAll, syntaxFault } = signals;
  const hasHost = hasMailHost(domain);
  const exists = hasHost || ["null_mx", "no_mail_host", "mx_unroutable"].includes(domain);
  const answered = mailbox !== null && mailbox.verdict !== "unknown";
  return {
    syntaxValid: syntaxFault === null,
    domainExists: exists,
    mxFound: hasHost,
    smtpCheck: answered,
    // An acceptance proves a mailbox only where a stranger would have been refused.
    mailboxExists:
      (mailbox?.verdict === "valid" && (catchAll === "no" || signals.refusesStrangers)) ||
      (mailbox?.verdict === "risky" && catchAll !== "yes"),
    catchAll: catchAll === "yes",
  };
};

const aiOf = (found: Found, signals: Signals): NonNullable<Verification["ai"]> => {
  const { local, domain } = found.address ?? splitRoughly(found.text);
  const { suggestion, confidence } = suggestTypo(
    { local, domain },
    { mailWorks: mailWorks(signals), knownSquat: found.listed.squat },
    popularProviders,
  );
  return {
    typoSuggestion: suggestion,
    typoConfidence: confidence,
    catchAllConfidence: isCatchAllInQuestion(signals)
      ? catchAllConfidence(local, { isRole: found.listed.role !== null, pattern: null })
      : null,
  };
};

/** Proven to work, proven not to, or neither: an address that cannot exist surely does not work. */
const mailWorks = ({ domain, syntaxFault }: Signals): boolean | "undecided" => {
  if (syntaxFault !== null) return false;
  if (hasMailHost(domain)) return true;
  return isUndecided(domain) || domain === "not_asked" ? "undecided" : false;
};

/** The parts of what is no address, as far as it has any: enough for "gmailcom" to be told from a domain. */
const splitRoughly = (text: string): { local: string; domain: string } => {
  const short = text.trim().slice(0, TEXT_MAX);
  const at = short.lastIndexOf("@");
  return { local: short.slice(0, Math.max(0, at)), domain: short.slice(at + 1).toLowerCase() };
};
