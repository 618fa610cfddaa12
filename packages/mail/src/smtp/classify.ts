import { findMailProvider } from "../mail-providers.ts";
import type { Reply, Stage } from "./reply.ts";
import type { MailboxVerdict, ReplyRule, RetryHint, RuleFamily } from "./reply-rule.ts";
import { RULE_FAMILIES } from "./reply-rules/rules.ts";

export type Finding = {
  /** `valid` means that the server accepted RCPT; other checks find out whether the domain accepts every recipient. */
  readonly verdict: MailboxVerdict;
  readonly reason: string;
  readonly rule: string;
  readonly confidence: number;
  readonly retry: RetryHint | null;
  readonly aboutUs: boolean;
};

type ReplyContext = { readonly stage: Stage | "data"; readonly mxHost?: string };

/** Readers need only the start and the end of a long reply; Gmail puts its reason on the last line. */
const HEAD_CHARS_MAX = 1536;
const TAIL_CHARS = 512;

export const classify = (reply: Reply, context: ReplyContext): Finding => {
  const plain = classifyAcceptance(reply, context.stage);
  if (plain) return plain;

  const match = findRule(reply, context);
  return match ? applyRule(match, reply.code) : classifyUnmatched(reply, context);
};

/** Tells whether the server asks for a pause in other words than 421, such as words against address harvesters. */
export const asksForBackoff = (reply: Reply, context: ReplyContext): boolean => {
  const match = reply.code >= 400 ? findRule(reply, context) : undefined;
  return match?.family.backoff === true && !match.isQuoted;
};

/** Tells whether a refusal is only for the recipient's domain, so that the mail provider needs no backoff. */
export const concernsOneDomain = (reply: Reply, context: ReplyContext): boolean =>
  reply.code >= 400 && findRule(reply, context)?.family.scope === "domain";

/** A server's refusal of us, for every recipient: because of our address, our name, our reputation or our pace. */
export type RefusalOfUs = "block" | "throttle";

/**
 * Returns `block` for a permanent refusal, and `throttle` for a 4xx, which will pass. Before RCPT, a permanent refusal can only be about
 * us. Null when the reply has another subject.
 */
export const findRefusalOfUs = (reply: Reply, context: ReplyContext): RefusalOfUs | null => {
  if (reply.code < 400) return null;
  const kind = reply.code >= 500 ? "block" : "throttle";
  const isBeforeRcpt = context.stage !== "rcpt" && context.stage !== "data";
  const match = findRule(reply, context);
  if (!match)
    return kind === "block" && isBeforeRcpt && !isNullMailHost(reply, context) ? kind : null;
  if (match.isQuoted) return null;
  const { refusesUs: when } = match.family;
  const isOfUs = {
    always: true,
    before_rcpt: isBeforeRcpt,
    for_now: kind === "throttle",
  };
  return when && isOfUs[when] ? kind : null;
};

/** RFC 7504: a 521 greeting says that the host accepts no mail at all. */
const isNullMailHost = ({ code }: Reply, { stage }: ReplyContext): boolean =>
  code === 521 && stage === "greeting";

/** Tells whether another attempt may be accepted: after greylisting, in any words, or a temporary fault. */
export const isDeferral = (reply: Reply, mxHost: string): boolean => {
  if (reply.code < 400 || reply.code >= 500) return false;
  const { verdict, retry } = classify(reply, { stage: "rcpt", mxHost });
  return verdict === "unknown" && (retry === "later" || retry === "other_host");
};

/** `isQuoted` is true when the rule matched another server's reply that this server quotes. */
type RuleMatch = {
  readonly family: RuleFamily;
  readonly rule: string;
  readonly isQuoted: boolean;
};

/** A session, its pool and its verdict read the same reply, and matching tries a hundred expressions. */
const matches = new WeakMap<Reply, { readonly context: string; readonly match?: RuleMatch }>();

const findRule = (reply: Reply, context: ReplyContext): RuleMatch | undefined => {
  const key = `${context.stage} ${context.mxHost}`;
  const cached = matches.get(reply);
  if (cached?.context === key) return cached.match;
  const match = matchRules(reply, context);
  matches.set(reply, { context: key, ...(match && { match }) });
  return match;
};

const matchRules = (reply: Reply, context: ReplyContext): RuleMatch | undefined => {
  const quoted = findQuotedReply(reply);
  if (!quoted) return matchFamilies(RULE_FAMILIES, reply, context);
  const { before } = quoted;
  const own = matchFamilies(OUTWEIGH_QUOTES, { ...reply, text: before }, context);
  if (own) return own;
  const match = matchFamilies(RULE_FAMILIES, quoted.reply, context);
  return match && { ...match, isQuoted: true };
};

/**
 * RFC 3463 §3.8: x.7.x is about security or policy, never about a missing mailbox. Servers put 5.7.0 and 5.7.1 before any text, so only the
 * text counts there; 525 5.7.13 is a disabled account (RFC 5248), and 5.7.17 and 5.7.18 are about the owner of a mailbox (RFC 7293).
 */
const isPolicyCode = ({ code, enhanced }: NormalizedReply): boolean =>
  /^[45]\.7\.(?!(?:[01]|1[78])$)/.test(enhanced) && !(code === "525" && enhanced === "5.7.13");

const OUTWEIGH_QUOTES = RULE_FAMILIES.filter(({ outweighsQuote }) => outweighsQuote);

const matchFamilies = (
  families: readonly RuleFamily[],
  reply: Reply,
  { stage, mxHost }: ReplyContext,
): RuleMatch | undefined => {
  const isAboutRecipient = stage === "rcpt" || stage === "data";
  const normalized: NormalizedReply = {
    code: String(reply.code),
    enhanced: reply.enhanced ?? "none",
    text: normalizeText(reply.text),
    mxHost: mxHost?.toLowerCase().replace(/\.$/, "") ?? "",
  };
  for (const family of families) {
    if (!isAboutRecipient && !family.anyStage) continue;
    if (family.verdict === "invalid" && isPolicyCode(normalized)) continue;
    const found = Object.entries(family.rules).find(([, rule]) => matchesRule(rule, normalized));
    if (found) return { family, rule: found[0], isQuoted: false };
  }
  return undefined;
};

/** An acceptance follows from the code alone; its text may be anything (RFC 5321 §4.2.1). */
const classifyAcceptance = (
  { code, text }: Reply,
  stage: ReplyContext["stage"],
): Finding | undefined => {
  if (code >= 400 && code < 600) return undefined;
  if (code === 252) return { ...UNKNOWN, reason: "vrfy_not_supported", rule: "252" };
  if (stage !== "rcpt" || code < 200 || code >= 300)
    return { ...UNKNOWN, reason: "no_verdict", rule: "no_refusal" };
  if (SPAMD.test(text)) return { ...UNKNOWN, reason: "greylisted", rule: "spamd", retry: "later" };
  if (code === 251) return { ...ACCEPTED, reason: "accepted_forward", rule: "251" };
  return { ...ACCEPTED, reason: "accepted", rule: "2xx" };
};

/** OpenBSD's spamd runs in front of the real server and accepts every recipient until the message arrives. */
const SPAMD = /^this is hurting you more than it is hurting me\b/i;

const UNKNOWN = {
  verdict: "unknown",
  confidence: 0.95,
  retry: null,
  aboutUs: false,
} as const;

const ACCEPTED = { ...UNKNOWN, verdict: "valid" } as const;

type NormalizedReply = {
  readonly code: string;
  readonly enhanced: string;
  readonly text: string;
  readonly mxHost: string;
};

const matchesRule = (rule: ReplyRule, normalized: NormalizedReply): boolean =>
  (rule.code === undefined || normalized.code.startsWith(rule.code)) &&
  (rule.mx === undefined || rule.mx.test(normalized.mxHost)) &&
  (rule.atGateway === undefined || findMailProvider(normalized.mxHost).isGateway) &&
  (rule.enhanced === undefined || rule.enhanced.test(normalized.enhanced)) &&
  (rule.text === undefined || rule.text.test(normalized.text)) &&
  (rule.unless === undefined || !rule.unless.test(normalized.text));

const applyRule = ({ family, rule, isQuoted }: RuleMatch, code: number): Finding => ({
  verdict: family.verdict,
  reason: family.reason,
  rule,
  confidence: family.confidence,
  retry: code < 500 ? (family.retry ?? "later") : getPermanentRetry(family),
  // A server that quotes a refusal was itself refused, so the IP address in the text is not ours.
  aboutUs: !isQuoted && (family.aboutUs ?? false),
});

/** A 5xx is final, with two exceptions: "too many recipients" concerns only this connection, and a backoff ends. */
const getPermanentRetry = ({ retry, backoff }: RuleFamily): RetryHint | null =>
  retry && (backoff || retry === "new_connection") ? retry : null;

const classifyUnmatched = (reply: Reply, context: ReplyContext): Finding => {
  const { code } = reply;
  const { stage } = context;
  // This check comes last, because some servers use 521 to refuse only us.
  if (isNullMailHost(reply, context))
    return { ...UNKNOWN, verdict: "invalid", reason: "domain_not_accepting", rule: "521" };

  const doubtful = { ...UNKNOWN, confidence: 0.5 };
  // Another mail host of the domain may accept us: a refusal before RCPT concerns only this host.
  if (stage !== "rcpt" && stage !== "data")
    return { ...doubtful, reason: "server_refuses", rule: "any_refusal", retry: "other_host" };
  return code < 500
    ? { ...doubtful, reason: "server_error", rule: "any_4xx", retry: "other_host" }
    : { ...doubtful, reason: "unclassified_permanent", rule: UNMATCHED_PERMANENT };
};

export const UNMATCHED_PERMANENT = "any_5xx";

/** Returns a reply without addresses, host names and the recipient's local part, so that two equal refusals have equal texts. */
export const toWords = ({ code, enhanced, text }: Reply, recipient: string): string => {
  const local = recipient.slice(0, Math.max(0, recipient.lastIndexOf("@")));
  return `${code} ${enhanced ?? ""} ${normalizeText(replaceWord(text, local))}`;
};

const replaceWord = (text: string, word: string): string =>
  word === ""
    ? text
    : text.replaceAll(
        new RegExp(
          `(?<![\\p{L}\\p{N}])${word.replaceAll(/[$()*+./?[\\\]^{|}]/g, "\\$&")}(?![\\p{L}\\p{N}])`,
          "giu",
        ),
        "_addr_",
      );

/**
 * Normalises the text for the rules. Names that others chose (addresses, host names, URLs) become their kind, so that a mailbox called
 * "spam" is not taken for spam. The text keeps whether a name was a blocklist's or Microsoft's, and the reason in a URL.
 */
const normalizeText = (text: string): string =>
  shorten(text)
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .normalize("NFC")
    .toLowerCase()
    .replace(/[‘’`´]/g, "'")
    .replace(/\bcan(?:'t|not|'not| not)\b/g, "can not")
    .replace(/n't\b/g, " not")
    .replace(/\b(does|did|is|was|could)nt\b/g, "$1 not")
    .replace(/(?:https?:\/\/|www\.)[^\s<>"]{1,2000}/g, replaceUrl)
    .replace(/<\d{1,3}(?:\.\d{1,3}){3}>/g, " _ip_ ")
    .replace(/<[^<>\s@]{0,64}@?[^<>\s@]{0,255}>|<"[^<>]{0,255}>/g, " _addr_ ")
    .replace(/[^\s<>()[\]{},;:"'=]{1,64}@[^\s<>()[\]{},;:"'=]{1,255}/g, " _addr_ ")
    .replace(/^\s*[^\s]{1,64}\.\.\. /, " _addr_ ")
    .replace(/[0-9a-f]{0,4}:[0-9a-f]{0,4}:[0-9a-f:]{2,39}/g, " _ip_ ")
    .replace(/[a-z0-9][a-z0-9.-]{2,254}/g, replaceRun)
    .replace(/\s+/g, " ")
    .trim();

const shorten = (text: string): string =>
  text.length <= HEAD_CHARS_MAX + TAIL_CHARS
    ? text
    : `${text.slice(0, HEAD_CHARS_MAX)}\n${text.slice(-TAIL_CHARS)}`;

const BLOCKLIST =
  /spamhaus|spamcop|barracuda(?:central|networks)|sorbs|abusix|abuseat|cloudmark|invaluement|dnsbl|[./-]rbl|uribl|surbl|junkemailfilter|hostkarma|uceprotect|backscatterer|bl[ao]ck-?list|ipcheck|mailspike|senderscore|senderbase/;

/** URLs that name the reason of a refusal, and the word that replaces each in the normalised text. */
const URL_REASONS: readonly {
  readonly of: string;
  readonly part: RegExp;
  readonly word: string;
}[] = [
  { of: "google.com/", part: /[?&]p=([a-z]{1,40})/, word: "p=" },
  { of: "mail.i.ua/", part: /\/err\/(\d{1,4})\b/, word: "_iua_" },
];

const replaceUrl = (url: string): string => {
  const reasons = URL_REASONS.filter(({ of }) => url.includes(of)).map(({ part, word }) => {
    const found = part.exec(url)?.[1];
    return found === undefined ? "" : `${word}${found}`;
  });
  return ` _url_ ${BLOCKLIST.test(url) ? "_blocklist_" : ""} ${reasons.join(" ")} `;
};

const COMMON_ENDINGS = new Set(
  "com net org edu gov mil info biz io co de fr uk nl ru jp cn br pl ch eu cz ua kr au ca pt dk fi hu ro gr tr mx ar cl tw hk sg nz za ie test example invalid".split(
    " ",
  ),
);

/** A run of letters, digits, dots and hyphens is a code (dropped), an IP address, a host name, or plain words. */
const replaceRun = (run: string): string => {
  const word = run.replace(/(?<![.-])[.-]+$/, "");
  const tail = run.slice(word.length);
  if (/^[245]\.\d{1,3}\.\d{1,3}$/.test(word) || /^[245]\d\d-[245]\.\d{1,3}\.\d{1,3}$/.test(word))
    return tail;
  if (/^[245]\d\d$/.test(word) && tail.startsWith("-")) return "";
  const labels = word.split(".");
  if (labels.length === 4 && labels.every((label) => /^\d{1,3}$/.test(label)))
    return ` _ip_ ${tail}`;
  const ending = labels.at(-1) ?? "";
  const isHost =
    !labels.includes("") &&
    (labels.length > 2
      ? /^[a-z]{2,24}$/.test(ending)
      : labels.length === 2 && COMMON_ENDINGS.has(ending));
  if (!isHost) return run;
  if (/^(?:resolver|storedrv|smtpsend|routing)\./.test(word)) return labels.join(" ") + tail;
  const isMicrosoft = word.endsWith(".outlook.com");
  return ` _host_ ${BLOCKLIST.test(word) ? "_blocklist_" : ""} ${isMicrosoft ? "_microsoft_" : ""} ${tail}`;
};

/**
 * The words that introduce another server's reply: Postfix and Exim name the host and its address, Exim also writes a line before the
 * reply, Barracuda names the recipient.
 */
const QUOTE_STARTS = [
  /\bhost [^\s[\]]{1,255} ?\[[0-9a-f.:]{2,45}\](?::\d{1,5})?(?: said| refused to talk to me)?: {0,9}(?=[45]\d\d\b)/gi,
  /\b(?:said|replied|answered|responded|returned|reply|response)(?: with| was| from server)?:? {1,9}["'(<]?(?=[45]\d\d[ -])/gi,
  /\bfor one or more recipients:? ?\([^\s()<>@,;:]{1,64}@[^\s()<>@,;:]{1,255}: ?/gi,
  /\bcallout verification failed:\s{1,9}/gi,
];

type QuotedReply = {
  readonly before: string;
  /** The innermost quotation. Its class is 4 when either server's code has the class 4. */
  readonly reply: Reply;
};

const CODES = /^([45]\d\d)(?:[ -]+#?([45]\.\d{1,3}\.\d{1,3})(?!\.?\d))?[ -]*/;

/** Postfix names the refused command. The expected command is RCPT, so only another command carries information. */
const IN_REPLY_TO_RCPT = /\(in reply to RCPT TO command\)/gi;

const findQuotedReply = (reply: Reply): QuotedReply | null => {
  const starts = QUOTE_STARTS.flatMap((start) => [...reply.text.matchAll(start)]);
  if (reply.code < 400 || starts.length === 0) return null;
  const first = Math.min(...starts.map(({ index }) => index));
  const innermost = Math.max(...starts.map(({ 0: words, index }) => index + words.length));
  return {
    before: reply.text.slice(0, first),
    reply: toReply(reply, reply.text.slice(innermost).replaceAll(IN_REPLY_TO_RCPT, "").trim()),
  };
};

/** The result is permanent only when both replies are: this server may have given up after a temporary reply. */
const toReply = (outer: Reply, quoted: string): Reply => {
  const [codes = "", ownCode, ownEnhanced = null] = CODES.exec(quoted) ?? [];
  if (ownCode === undefined) return { ...outer, text: quoted };
  const code = outer.code < 500 && !ownCode.startsWith("4") ? outer.code : Number(ownCode);
  const isOfClass =
    ownEnhanced?.startsWith(ownCode.slice(0, 1)) === true && code === Number(ownCode);
  return { code, enhanced: isOfClass ? ownEnhanced : null, text: quoted.slice(codes.length) };
};
