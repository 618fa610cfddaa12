import type { SpfEvaluation } from "./evaluate.ts";
import type { SpfHosts } from "./hosts.ts";
import { SPF_LIMITS } from "./limits.ts";
import { FAULTS, type SpfMechanism } from "./parse.ts";
import { SPF_RULES, type SpfFinding } from "./rules.ts";
import {
  findPage,
  isInclude,
  isMx,
  isPtr,
  type SpfPage,
  type SpfStep,
  type SpfTree,
} from "./tree.ts";
import type { SpfWalk } from "./walk.ts";

type SpfWidth = "wide" | "unowned";

/** A /16: the widest range that one sender can use. */
const ORDINARY_LENGTH4 = 16;
/** IANA never assigned more than a /8 of IPv4 to one owner, and gives registries a /12 of IPv6. */
const OWNED_LENGTH4 = 8;
const OWNED_LENGTH6 = 12;

const measureWidth = (mechanism: SpfMechanism): SpfWidth | undefined => {
  const [length4, length6] = getLengths(mechanism);
  if (length4 < OWNED_LENGTH4 || length6 < OWNED_LENGTH6) return "unowned";
  return length4 < ORDINARY_LENGTH4 ? "wide" : undefined;
};

const getLengths = (mechanism: SpfMechanism): readonly [length4: number, length6: number] => {
  if (mechanism.kind === "ip4") return [mechanism.block.length, 128];
  if (mechanism.kind === "ip6") return [32, mechanism.block.length];
  return "length4" in mechanism ? [mechanism.length4, mechanism.length6] : [32, 128];
};

export type SpfFindingsInput = {
  readonly tree: SpfTree;
  readonly root: SpfPage;
  readonly hosts: SpfHosts;
  readonly walk: SpfWalk;
  readonly sending: {
    readonly ip: string;
    readonly evaluation: SpfEvaluation | null;
    readonly names: number;
  } | null;
};

export const listFindings = (input: SpfFindingsInput): readonly SpfFinding[] => {
  const aboutPolicy = [
    ...findDomainIssues(input),
    ...[...input.tree.values()].flatMap((page) => [
      ...findRecordIssues(page),
      ...page.steps.flatMap((step) => findStepIssues(input, page, step)),
      ...findLinkIssues(input.tree, page),
    ]),
    ...hasLoop(input),
    ...findWalkIssues(input),
  ];
  const hasError = aboutPolicy.some(({ rule }) => isGrave(rule));
  return [...aboutPolicy, ...findSendingIssues(input, hasError), ...findTroubleIssues(input)];
};

const findDomainIssues = ({
  root: { domain, published, texts },
}: SpfFindingsInput): readonly SpfFinding[] => [
  ...createFinding(published.kind === "none" || published.kind === "nxdomain", "SPF_MISSING", {
    domain,
  }),
  ...createFinding(texts.some(isSenderId), "SPF_SENDERID", { domain }),
];

const isSenderId = (text: string): boolean => /^spf2\.0\//i.test(text);

// RFC 7208 §3.4: a response of 512 bytes must also hold the name and the other records.
const FITS_BYTES = 450;
const FITS_ALONE_BYTES = 512;

const findRecordIssues = ({
  domain,
  own,
  published,
  record,
  steps,
}: SpfPage): readonly SpfFinding[] => {
  if (published.kind === "several")
    return [{ rule: "SPF_MULTIPLE", detail: { domain, count: published.texts.length } }];
  if (published.kind !== "record") return [];
  const bytes = published.text.length;
  const ignored = [
    ...record.directives.slice(steps.length).map(({ term }) => term),
    ...(record.redirect && steps.at(-1)?.mechanism.kind === "all" ? [record.redirect.term] : []),
  ];
  const before = new Set<string>();
  const repeated = steps.filter(isInclude).filter(({ name, term }) => {
    const target = (name ?? term).toLowerCase();
    const isRepeated = before.has(target);
    before.add(target);
    return isRepeated;
  });
  return [
    ...record.faults.map(({ fault, term, at }): SpfFinding => {
      const detail = { domain, term: escapeInvisible(term), at, fault, reason: FAULTS[fault] };
      return { rule: "SPF_SYNTAX", detail };
    }),
    ...createFinding(own && bytes > FITS_ALONE_BYTES, "SPF_VERY_LONG", { domain, bytes }),
    ...createFinding(own && bytes > FITS_BYTES && bytes <= FITS_ALONE_BYTES, "SPF_LONG", {
      domain,
      bytes,
    }),
    ...ignored.flatMap((term) => createFinding(own, "SPF_TERMS_AFTER_ALL", { domain, term })),
    ...repeated.flatMap(({ term }) => createFinding(own, "SPF_DUP_INCLUDE", { domain, term })),
  ];
};

/** The fault is a stray byte or a line break, which a terminal would not show. */
const escapeInvisible = (text: string): string =>
  text.replaceAll(
    /[^!-~]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );

const WIDE_OWN = { wide: "SPF_WIDE_CIDR", unowned: "SPF_WIDE_CIDR_UNOWNED" } as const;
const WIDE_INCLUDED = { ...WIDE_OWN, wide: "SPF_WIDE_CIDR_INCLUDED" } as const;

const findStepIssues = (
  { hosts }: SpfFindingsInput,
  { domain, own }: SpfPage,
  step: SpfStep,
): readonly SpfFinding[] => {
  const { mechanism, qualifier, term, name } = step;
  // The width of a range does not matter when the term refuses it.
  const width = qualifier === "+" ? measureWidth(mechanism) : undefined;
  const mx = isMx(step) && name !== null ? hosts.mailHosts.get(name.toLowerCase()) : undefined;
  const count = mx?.kind === "ok" ? mx.records.length : 0;
  const limit = SPF_LIMITS.namesMax;
  const detail = { domain, term };
  return [
    ...createFinding(isPtr(step), "SPF_PTR", detail),
    ...createFinding("target" in mechanism && name === null, "SPF_MACRO", detail),
    ...(width ? createFinding(true, (own ? WIDE_OWN : WIDE_INCLUDED)[width], detail) : []),
    ...createFinding(count > limit, "SPF_MX_GT_10", { ...detail, host: name ?? "", count, limit }),
  ];
};

const findLinkIssues = (tree: SpfTree, page: SpfPage): readonly SpfFinding[] => {
  const { domain, redirect } = page;
  const broken = (step: Pick<SpfStep, "name" | "term">, rules: typeof IF_INCLUDED) => {
    const kind = step.name === null ? undefined : findPage(tree, step.name)?.published.kind;
    if (kind !== "none" && kind !== "nxdomain") return [];
    return createFinding(true, rules[kind], { domain, term: step.term, target: step.name ?? "" });
  };
  return [
    ...page.steps.filter(isInclude).flatMap((step) => broken(step, IF_INCLUDED)),
    ...(redirect ? broken(redirect, IF_REDIRECTED) : []),
    ...createFinding(redirect?.name === null, "SPF_MACRO", { domain, term: redirect?.term ?? "" }),
  ];
};

type IfBroken = Readonly<Record<"none" | "nxdomain", SpfFinding["rule"]>>;
const IF_INCLUDED: IfBroken = { none: "SPF_INCLUDE_NONE", nxdomain: "SPF_DANGLING_INCLUDE" };
const IF_REDIRECTED: IfBroken = { none: "SPF_REDIRECT_NONE", nxdomain: "SPF_REDIRECT_NONE" };

/** A link to a page whose own links are still being followed closes a loop. */
const hasLoop = ({ tree, root }: SpfFindingsInput): readonly SpfFinding[] => {
  const open = new Set<SpfPage>();
  const done = new Set<SpfPage>();
  const enter = (page: SpfPage): readonly SpfFinding[] => {
    open.add(page);
    const links = [...page.steps.filter(isInclude), ...(page.redirect ? [page.redirect] : [])];
    const loops = links.flatMap(({ name, term }) => {
      const target = name === null ? undefined : findPage(tree, name);
      if (!target || done.has(target)) return [];
      return open.has(target)
        ? createFinding(true, "SPF_LOOP", { domain: page.domain, term })
        : enter(target);
    });
    open.delete(page);
    done.add(page);
    return loops;
  };
  return enter(root);
};

const LOOKUPS_MANY = 8;

const findWalkIssues = ({ walk, root }: SpfFindingsInput): readonly SpfFinding[] => {
  const { domain } = root;
  const { lookups, voidLookups, result, by } = walk;
  const { termsMax, voidsMax } = SPF_LIMITS;
  const many = { domain, lookups, limit: termsMax };
  const voids = { domain, void_lookups: voidLookups, limit: voidsMax };
  const openBy = { domain, term: by?.term ?? "", by: by?.domain ?? "" };
  const byName = by?.kind === "all" || by?.kind === "exists";
  return [
    ...createFinding(lookups > termsMax, "SPF_LOOKUPS_GT_10", many),
    ...createFinding(lookups >= LOOKUPS_MANY && lookups <= termsMax, "SPF_LOOKUPS_8_10", many),
    ...createFinding(voidLookups > voidsMax, "SPF_VOID_GT_2", voids),
    ...createFinding(result === "pass" && byName, "SPF_PLUS_ALL", openBy),
    ...createFinding(result === "neutral", "SPF_NEUTRAL_ALL", { domain }),
    ...createFinding(result === "softfail", "SPF_SOFTFAIL", { domain }),
  ];
};

const isGrave = (rule: SpfFinding["rule"]): boolean => {
  const { severity } = SPF_RULES[rule];
  return severity === "critical" || severity === "high";
};

const findSendingIssues = (
  { sending, root, tree }: SpfFindingsInput,
  hasError: boolean,
): readonly SpfFinding[] => {
  if (!sending) return [];
  const { ip, evaluation, names } = sending;
  const { domain } = root;
  const limit = SPF_LIMITS.namesMax;
  const ptr = [...tree.values()].flatMap(({ steps }) => steps).find(isPtr);
  const result = evaluation?.result ?? "temperror";
  const isOpen = result === "temperror";
  // The customer fixes the reported error, and does not need to add the address.
  const isByError = hasError && (result === "none" || result === "permerror");
  const isExcluded = result !== "pass" && !isOpen && !isByError;
  return [
    ...createFinding(isExcluded, "SPF_IP_NOT_COVERED", { domain, ip, result }),
    ...createFinding(ptr !== undefined && names > limit, "SPF_PTR_GT_10", {
      ip,
      count: names,
      limit,
      term: ptr?.term ?? "",
    }),
  ];
};

const findTroubleIssues = ({
  tree,
  hosts,
  root,
  sending,
}: SpfFindingsInput): readonly SpfFinding[] => {
  const answers: readonly (readonly [name: string, kind: string])[] = [
    ...[...tree.values()].map(({ domain, published }) => [domain, published.kind] as const),
    ...[...hosts.addresses, ...hosts.mailHosts].map(([name, { kind }]) => [name, kind] as const),
  ];
  const seen = answers.filter(([, kind]) => isTrouble(kind));
  const problem = sending?.evaluation?.result === "temperror" ? sending.evaluation.problem : null;
  const met = problem ? [[problem.term ?? problem.domain, problem.reason] as const] : [];
  return (seen.length > 0 ? seen : met).map(([host, reason]) => ({
    rule: "SPF_TEMPERROR",
    detail: { domain: root.domain, host, reason },
  }));
};

const isTrouble = (kind: string): boolean =>
  ["servfail", "refused", "timeout", "too_large", "internal"].includes(kind);

const createFinding = (
  holds: boolean,
  rule: SpfFinding["rule"],
  detail: SpfFinding["detail"],
): readonly SpfFinding[] => (holds ? [{ rule, detail }] : []);
