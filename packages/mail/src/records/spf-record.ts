import type { Dns } from "../dns/dns.ts";
import { isAbsent } from "../dns/outcome.ts";
import { parseIp } from "../ip.ts";
import type { MxAnalysis } from "../mx/analyse.ts";
import type { SpfAnalysis } from "../spf/analyse.ts";
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

/** Merging several records shows what they include, and only then it is known what is broken there. */
const ROUNDS_MAX = 3;
const PAGES_MAX = 20;

/**
 * The SPF record of a domain without its faults, as far as these can be mended from here. A host that passed before, by
 * a term that names it, passes with this record too.
 */
export const proposeSpf = async (
  dns: Dns,
  input: SpfProposalInput,
): Promise<ProposedRecord | undefined> => {
  const { domain, sendingIp } = input;
  const published = (await readTexts(dns, domain)).filter(isSpf);
  const replaces = published.map((value) => ({ name: domain, type: "TXT", value }) as const);
  const toProposal = (value: string, note: string | null) =>
    propose({ name: domain, type: "TXT", value }, { replaces, note });

  let text = published.length === 1 ? published[0] : undefined;
  let proposal: ProposedRecord | undefined;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const next =
      text === undefined
        ? createRecord(published, input)
        : await repairRecord(proposal ? overlayTexts(dns, [proposal]) : dns, text, input);
    if (next === text) break;
    text = next;
    proposal = toProposal(next, published.length === 0 ? NOTE_SENDERS : null);
    if (proposal.open.length > 0) return proposal;
  }
  if (sendingIp === null || text === undefined) return proposal;
  const current = proposal ? overlayTexts(dns, [proposal]) : dns;
  const query = { ip: sendingIp, domain, sender: `postmaster@${domain}`, helo: domain };
  const { result } = await evaluateSpf(current, query);
  const isMissing = result !== "pass" && result !== "temperror" && result !== "permerror";
  return isMissing
    ? toProposal(insertFirst(text, toIpTerm(sendingIp)), proposal?.note ?? null)
    : proposal;
};

const NOTE_SENDERS = "Add a term for each other service that sends mail for you, before ~all.";

const createRecord = (published: readonly string[], input: SpfProposalInput): string =>
  published.length === 0 ? startRecord(input) : mergeRecords(published);

const toRecord = (terms: readonly string[]): string => ["v=spf1", ...terms].join(" ");

const splitTerms = (text: string): readonly string[] =>
  text
    .split(" ")
    .slice(1)
    .filter((term) => term !== "");

const insertFirst = (text: string, term: string): string => toRecord([term, ...splitTerms(text)]);

/** The record with one more term, after the last one that names senders. */
export const addSpfTerm = (text: string, term: string): string => {
  const terms = splitTerms(text);
  const end = terms.findIndex((one) => /^[-+?~]?all$/i.test(one) || isModifier(one));
  return toRecord(end === -1 ? [...terms, term] : terms.toSpliced(end, 0, term));
};

const toIpTerm = (ip: string): string => `${parseIp(ip)?.bits === 128 ? "ip6" : "ip4"}:${ip}`;

/** Mail services whose MX hosts do not send: what their customers include. */
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

/** The first record of a domain: the senders that its other records show. ~all, because there may be more of them. */
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

/** One record with the terms of all. Receivers accepted none of the records, so no host passed before. */
const mergeRecords = (texts: readonly string[]): string => {
  const records = texts.map(splitTerms);
  const isEnd = (term: string) => /^[-+?~]?all$/i.test(term);
  const areStrict = records.every((terms) => terms.find(isEnd) === "-all");
  const terms = records.flatMap((all) => {
    const end = all.findIndex(isEnd);
    // Receivers ignore a redirect in a record with an all.
    return end === -1 ? all : all.slice(0, end).filter((term) => !isRedirect(term));
  });
  const included = terms.map((term) => term.replace(/^redirect=/i, "include:"));
  const modifiers = included.filter(isModifier);
  return toRecord([
    ...included.filter((term) => !isModifier(term)),
    ...modifiers.slice(0, 1),
    areStrict ? "-all" : "~all",
  ]);
};

const isRedirect = (term: string): boolean => /^redirect=/i.test(term);

const isModifier = (term: string): boolean => /^[a-z][a-z\d._-]*=/i.test(term);

/** One pass of all repairs over a single record. */
const repairRecord = async (dns: Dns, text: string, input: SpfProposalInput): Promise<string> => {
  const { domain } = input;
  const terms = endRecord(splitTerms(text).flatMap(repairTerm).filter(createFirstModifierTest()));
  const tree = await readTree(overlayRoot(dns, domain, text, toRecord(terms)), domain, PAGES_MAX);
  const [root] = tree.values();
  if (!root) return text;
  const isVoid = await findVoidTerms(dns, root, input.spf);
  const seen = new Set<string>();
  const sound = terms.filter((term) => {
    const [directive] = parseSpf(toRecord([term])).directives;
    if (isModifier(term)) return !leadsNowhere(tree, root, term);
    const key = term.replace(/^[-+?~]/, "").toLowerCase();
    const isRepeated = seen.has(key);
    seen.add(key);
    return directive && !isRepeated && !leadsNowhere(tree, root, term) && !isVoid(term);
  });
  return toRecord(endRecord(sound));
};

const overlayRoot = (dns: Dns, domain: string, before: string, after: string): Dns =>
  overlayTexts(dns, [
    propose(
      { name: domain, type: "TXT", value: after },
      { replaces: [{ name: domain, type: "TXT", value: before }] },
    ),
  ]);

/** Ends a record in ~all unless its owner ended it in a redirect, ~all or -all. Receivers ignore what follows an all. */
const endRecord = (terms: readonly string[]): readonly string[] => {
  const at = terms.findIndex((term) => /^[-+?~]?all$/i.test(term));
  if (at === -1) return terms.some(isRedirect) ? terms : [...terms, "~all"];
  const others = terms.slice(at + 1).filter((term) => isModifier(term) && !isRedirect(term));
  const end = terms[at] ?? "";
  return [
    ...terms.slice(0, at).filter((term) => !isRedirect(term)),
    /^[-~]/.test(end) ? end : "~all",
    ...others,
  ];
};

/** RFC 7208 §6: redirect and exp may each occur once. */
const createFirstModifierTest = (): ((term: string) => boolean) => {
  const seen = new Set<string>();
  return (term) => {
    const name = /^(redirect|exp)=/i.exec(term)?.[1]?.toLowerCase();
    if (name === undefined) return true;
    const isFirst = !seen.has(name);
    seen.add(name);
    return isFirst;
  };
};

const isSound = (term: string): boolean => parseSpf(toRecord([term])).faults.length === 0;

/** What the owner of a faulty term most likely meant, in the order of the guesses. */
const GUESSES: readonly (readonly [fault: RegExp, meant: string])[] = [
  // A missing space before the end.
  [/^(.*[a-z\d])([-+?~]all)$/i, "$1 $2"],
  // A modifier with a colon.
  [/^(redirect|exp):(.+)$/i, "$1=$2"],
  // An address as another kind of term, or as none.
  [
    /^([-+?~]?)(?:ipv?[46]?|a|mx|include|ptr|exists)?:?(\d+\.\d+\.\d+\.\d+(?:\/\d+)?)$/i,
    "$1ip4:$2",
  ],
  [/^([-+?~]?)(?:ipv?[46]?|a|mx|include)?:?([\da-f]*:[\da-f:]+(?:\/\d+)?)$/i, "$1ip6:$2"],
];

/** A term without its fault, or no term: a record with a fault counts for nothing, so no host passed by it. */
const repairTerm = (term: string): readonly string[] => {
  if (isSound(term)) return [term];
  const visible = term.replaceAll(/[^!-~]/g, "");
  const guesses = [visible, ...GUESSES.map(([fault, meant]) => visible.replace(fault, meant))];
  const sound = guesses
    .map((guess) => guess.split(" ").filter((one) => one !== ""))
    .find((parts) => parts.every(isSound));
  return sound ?? [];
};

/** An include or redirect of the record that makes every evaluation fail as soon as it is reached. */
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

/** The a, mx and exists terms that find nothing, where there are more of them than receivers put up with. */
const findVoidTerms = async (
  dns: Dns,
  { steps }: SpfPage,
  { voidLookups }: SpfAnalysis,
): Promise<(term: string) => boolean> => {
  if (voidLookups <= SPF_LIMITS.voidsMax) return () => false;
  const found = await Promise.all(
    steps.map(async (step) => ({ term: step.term, isVoid: await findsNothing(dns, step) })),
  );
  return (term) => found.some((one) => one.term === term && one.isVoid);
};

/** For IPv4 and IPv6: a look-up that is void for one may find hosts of the other. */
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
