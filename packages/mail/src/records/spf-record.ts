import type { Dns } from "../dns/dns.ts";
import { isAbsent } from "../dns/dns.ts";
import { parseIp } from "../ip.ts";
import type { MxAnalysis } from "../mx/analyse.ts";
import { analyseSpf, type SpfAnalysis } from "../spf/analyse.ts";
import { evaluateSpf } from "../spf/evaluate.ts";
import { SPF_LIMITS } from "../spf/limits.ts";
import { isSpf, parseSpf, type SpfDirective } from "../spf/parse.ts";
import { findPage, isInclude, readTree, type SpfPage, type SpfTree } from "../spf/tree.ts";
import { overlayTexts, type ProposedRecord, propose, readTexts } from "./dns-record.ts";

export type SpfProposalInput = {
  readonly domain: string;
  readonly sendingIp: string | null;
  readonly mx: MxAnalysis;
  readonly spf: SpfAnalysis;
};

/** Merging several records brings in their includes, whose faults show only in the next round. */
const ROUNDS_MAX = 3;
const PAGES_MAX = 20;

/**
 * Proposes the domain's SPF record without its faults, as far as we can repair these. A host that passed by a term that names it still
 * passes. The record keeps every sender of its author: a faulty term without a readable sender becomes a gap for the author to fill in. A
 * record with a gap ends in ~all.
 */
export const proposeSpf = async (
  dns: Dns,
  input: SpfProposalInput,
): Promise<ProposedRecord | undefined> => {
  const { domain, sendingIp } = input;
  const published = (await readTexts(dns, domain)).filter(isSpf);
  const replaces = published.map((value) => ({ name: domain, type: "TXT", value }) as const);
  const toProposal = (value: string) =>
    propose(
      { name: domain, type: "TXT", value },
      { replaces, note: describeRecord(value, published) },
    );

  let text = published.length === 1 ? published[0] : undefined;
  let proposal: ProposedRecord | undefined;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const next =
      text === undefined
        ? createRecord(published, input)
        : await repairRecord(...(await readVoids(dns, input, proposal)), text);
    if (next === text) break;
    text = next;
    proposal = toProposal(next);
  }
  if (text === undefined) return undefined;
  const current = proposal ? overlayTexts(dns, [removeGaps(proposal)]) : dns;
  if (sendingIp !== null && (await isNotCovered(current, domain, sendingIp))) {
    text = insertFirst(text, toIpTerm(sendingIp));
    proposal = toProposal(text);
  }
  const isEmptied = proposal && receivesMail(input.mx) && !splitTerms(text).some(namesSenders);
  return isEmptied
    ? toProposal(toRecord(endRecord([OPEN_SENDERS, ...splitTerms(text)])))
    : proposal;
};

const isNotCovered = async (dns: Dns, domain: string, ip: string): Promise<boolean> => {
  const query = { ip, domain, sender: `postmaster@${domain}`, helo: domain };
  const { result } = await evaluateSpf(dns, query);
  return result !== "pass" && result !== "temperror" && result !== "permerror";
};

/** Counts the void look-ups of the proposed record, which may have terms of several published ones. */
const readVoids = async (
  dns: Dns,
  { domain, spf }: SpfProposalInput,
  proposal: ProposedRecord | undefined,
): Promise<readonly [Dns, RepairedRecord]> => {
  if (!proposal) return [dns, { domain, voidLookups: spf.voidLookups }];
  const { voidLookups } = await analyseSpf(overlayTexts(dns, [removeGaps(proposal)]), { domain });
  return [overlayTexts(dns, [proposal]), { domain, voidLookups }];
};

type RepairedRecord = Pick<SpfAnalysis, "voidLookups"> & { readonly domain: string };

/** A domain whose MX records are unknown may receive mail. */
const receivesMail = ({ records, hasValidMx }: MxAnalysis): boolean =>
  hasValidMx === null || records.some(({ host }) => host !== ".");

const describeRecord = (value: string, published: readonly string[]): string | null => {
  if (published.length === 0) return NOTE_SENDERS;
  return splitTerms(value).some(isGap) ? NOTE_GAPS : null;
};

const NOTE_SENDERS = "Add a term for each other service that sends mail for you, before ~all.";
const NOTE_GAPS =
  "Write the senders in place of each part in angle brackets, or delete that part if they send no mail of yours any more.";

const createRecord = (published: readonly string[], input: SpfProposalInput): string =>
  published.length === 0 ? startRecord(input) : mergeRecords(published);

const toRecord = (terms: readonly string[]): string => ["v=spf1", ...terms].join(" ");

const splitTerms = (text: string): readonly string[] =>
  (text.match(/<[^<>]+>|[^ ]+/g) ?? []).slice(1);

/** A gap: a part that only the owner can fill in. Published by mistake, it is a syntax error that every check reports. */
const isGap = (term: string): boolean => /^<[^<>]+>$/.test(term);

const GAP_TERM_MAX = 80;

const toGap = (term: string): string =>
  `<senders in place of ${term.replaceAll(/[^!-~]|[<>]/g, "").slice(0, GAP_TERM_MAX)}>`;

const namesSenders = (term: string): boolean =>
  !isEnd(term) && !/^(?:-|[+?~]$|exp[:=])/i.test(term) && (!isModifier(term) || isRedirect(term));

/** A faulty term that names senders becomes a gap; any other disappears. */
const replaceTerm = (term: string): readonly string[] => (namesSenders(term) ? [toGap(term)] : []);

export const hasGap = ({ record, open }: ProposedRecord): boolean =>
  open.length > 0 && isSpf(record.value);

export const removeGaps = (proposal: ProposedRecord): ProposedRecord => {
  const { record } = proposal;
  const terms = splitTerms(record.value).filter((term) => !isGap(term));
  return { ...proposal, record: { ...record, value: toRecord(terms) } };
};

const insertFirst = (text: string, term: string): string => toRecord([term, ...splitTerms(text)]);

export const addSpfTerm = (text: string, term: string): string => {
  const terms = splitTerms(text);
  const end = terms.findIndex((one) => isEnd(one) || isModifier(one));
  return toRecord(end === -1 ? [...terms, term] : terms.toSpliced(end, 0, term));
};

const toIpTerm = (ip: string): string => `${parseIp(ip)?.bits === 128 ? "ip6" : "ip4"}:${ip}`;

/** Mail services whose MX hosts do not send, and the include that their customers need. */
const INCLUDE_OF_SERVICE: readonly (readonly [mxEnd: string, include: string])[] = [
  ["google.com", "_spf.google.com"],
  ["googlemail.com", "_spf.google.com"],
  ["outlook.com", "spf.protection.outlook.com"],
  ["zoho.com", "zoho.com"],
  ["zoho.eu", "zoho.eu"],
  ["messagingengine.com", "spf.messagingengine.com"],
  ["protonmail.ch", "_spf.protonmail.ch"],
  ["icloud.com", "icloud.com"],
  ["yandex.net", "_spf.yandex.net"],
  ["yandex.ru", "_spf.yandex.net"],
];

const OPEN_SENDERS = "<ip4: and include: terms of your senders>";

/** Writes a domain's first record: the senders that its other records show. It ends in ~all, because more senders may exist. */
const startRecord = ({ sendingIp, mx }: SpfProposalInput): string => {
  const hosts = mx.records.map(({ host }) => host);
  if (hosts.length > 0 && hosts.every((host) => host === "."))
    return sendingIp === null ? toRecord(["-all"]) : toRecord([toIpTerm(sendingIp), "~all"]);
  const services = INCLUDE_OF_SERVICE.filter(([end]) =>
    hosts.some((host) => `.${host}`.endsWith(`.${end}`)),
  ).map(([, include]) => `include:${include}`);
  const isOwn =
    services.length === 0 && mx.hasValidMx === true && hosts.length <= SPF_LIMITS.namesMax;
  const senders = [
    ...(sendingIp === null ? [] : [toIpTerm(sendingIp)]),
    ...new Set(services),
    ...(isOwn ? ["mx"] : []),
  ];
  return toRecord([...(senders.length > 0 ? senders : [OPEN_SENDERS]), "~all"]);
};

/** Merges the terms of all records into one. Receivers accepted none of them, so no host passed before. */
const mergeRecords = (texts: readonly string[]): string => {
  const records = texts.map(splitTerms);
  const areStrict = records.every((terms) => terms.find(isEnd) === "-all");
  const included = records
    .flat()
    .filter((term) => !isEnd(term))
    .map(toInclude);
  return toRecord([
    ...included.filter((term) => !isModifier(term)),
    areStrict ? "-all" : "~all",
    ...included.filter(isModifier),
  ]);
};

const isEnd = (term: string): boolean => /^[-+?~]?all$/i.test(term);

/** An include at the end lets the same hosts pass as a redirect. */
const toInclude = (term: string): string => term.replace(/^redirect=/i, "include:");

const isRedirect = (term: string): boolean => /^redirect=/i.test(term);

const isModifier = (term: string): boolean => /^[a-z][a-z\d._-]*=/i.test(term);

const repairRecord = async (
  dns: Dns,
  { domain, voidLookups }: RepairedRecord,
  text: string,
): Promise<string> => {
  const terms = endRecord(splitTerms(text).flatMap(repairTerm).filter(isFirstExp));
  const readable = toRecord(terms.filter((term) => !isGap(term)));
  const tree = await readTree(overlayRoot(dns, domain, text, readable), domain, PAGES_MAX);
  const [root] = tree.values();
  if (!root) return text;
  const isVoid = await findVoidTerms(dns, root, voidLookups);
  const kept = terms.flatMap((term) =>
    leadsNowhere(tree, root, term) || isVoid(term) ? replaceTerm(term) : [term],
  );
  const keys = kept.map((term) => term.replace(/^[-+?~]/, "").toLowerCase());
  return toRecord(endRecord(kept.filter((_, at) => keys.indexOf(keys[at] ?? "") === at)));
};

const overlayRoot = (dns: Dns, domain: string, before: string, after: string): Dns =>
  overlayTexts(dns, [
    propose(
      { name: domain, type: "TXT", value: after },
      { replaces: [{ name: domain, type: "TXT", value: before }] },
    ),
  ]);

/**
 * Ends a record in ~all unless its owner ended it in one redirect, ~all or -all. Receivers ignore mechanisms after an all, and a redirect
 * beside it, so these senders move before the all.
 */
const endRecord = (terms: readonly string[]): readonly string[] => {
  const hasGap = terms.some(isGap);
  const end = terms.find(isEnd);
  if (end === undefined && !hasGap && terms.filter(isRedirect).length === 1) return terms;
  const at = end === undefined ? terms.length : terms.indexOf(end);
  const [before, after] = [terms.slice(0, at), terms.slice(at)].map((part) =>
    part.filter((term) => !isEnd(term)).map(toInclude),
  );
  return [
    ...(before ?? []),
    ...(after ?? []).filter((term) => !isModifier(term)),
    end !== undefined && /^[-~]/.test(end) && !hasGap ? end : "~all",
    ...(after ?? []).filter(isModifier),
  ];
};

/** RFC 7208 §6: exp and redirect may each occur once. */
const isFirstExp = (term: string, at: number, terms: readonly string[]): boolean =>
  !isExp(term) || terms.findIndex(isExp) === at;

const isExp = (term: string): boolean => /^exp=/i.test(term);

const isSound = (term: string): boolean => parseSpf(toRecord([term])).faults.length === 0;

const GUESSES: readonly (readonly [fault: RegExp, meant: string])[] = [
  [/[,;]+/g, " "],
  [/^([-+?~]?all)[^a-z\d].*$/i, "$1"],
  [/^(.*[a-z\d])([-+?~]all)$/i, "$1 $2"],
  [/^(redirect|exp):(.+)$/i, "$1=$2"],
  [
    /^([-+?~]?)(?:ipv?[46]?|a|mx|include|ptr|exists)?:?(\d+\.\d+\.\d+\.\d+(?:\/\d+)?)$/i,
    "$1ip4:$2",
  ],
  [/^([-+?~]?)(?:ipv?[46]?|a|mx|include)?:?([\da-f]*:[\da-f:]+(?:\/\d+)?)$/i, "$1ip6:$2"],
];

/** Repairs a term, or replaces it by a gap. A record with a fault counts for nothing, so no host passed by it. */
const repairTerm = (term: string): readonly string[] => {
  if (isGap(term) || isSound(term)) return [term];
  const visible = term.replaceAll(/[^!-~]/g, "");
  const guesses = [visible, ...GUESSES.map(([fault, meant]) => visible.replace(fault, meant))];
  const sound = guesses
    .map((guess) => guess.split(" ").filter((one) => one !== ""))
    .find((parts) => parts.length > 0 && parts.every(isSound));
  return sound ?? replaceTerm(term);
};

const leadsNowhere = (tree: SpfTree, root: SpfPage, term: string): boolean => {
  const step = root.steps.find((one) => isInclude(one) && one.term === term);
  const name = step ? step.name : root.redirect?.term === term ? root.redirect.name : null;
  const target = name === null ? undefined : findPage(tree, name);
  if (!target) return false;
  const { published, record } = target;
  return (
    target === root ||
    published.kind === "none" ||
    published.kind === "nxdomain" ||
    published.kind === "several" ||
    record.faults.length > 0
  );
};

const findVoidTerms = async (
  dns: Dns,
  { steps }: SpfPage,
  voidLookups: number,
): Promise<(term: string) => boolean> => {
  if (voidLookups <= SPF_LIMITS.voidsMax) return () => false;
  const found = await Promise.all(
    steps.map(async (step) => ({ term: step.term, isVoid: await findsNothing(dns, step) })),
  );
  return (term) => found.some((one) => one.term === term && one.isVoid);
};

/** Asks for IPv4 and IPv6, because a name may have addresses of only one family. */
const findsNothing = async (
  dns: Dns,
  { mechanism: { kind }, name }: SpfDirective & { readonly name: string | null },
): Promise<boolean> => {
  if (name === null) return false;
  if (kind === "mx") return isAbsent(await dns("MX", name));
  if (kind !== "a" && kind !== "exists") return false;
  const answers = await Promise.all([dns("A", name), dns("AAAA", name)]);
  return answers.every(isAbsent);
};
