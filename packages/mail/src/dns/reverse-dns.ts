import { type Ip, isSameIp, parseIp, toReverseLabels, toReverseName } from "../ip.ts";
import type { Issue } from "../issue.ts";
import {
  createIssueFactory,
  high,
  type IssueRules,
  type IssueStatus,
  joinNames,
  low,
  medium,
  scoreIssues,
  toStatus,
} from "../issue-rules.ts";
import { type Dns, getRecords, isAbsent, isFault } from "./dns.ts";

export type ReverseDns = {
  readonly status: IssueStatus | "missing" | "error";
  readonly name: string | null;
  readonly names: readonly string[];
  /** True (forward-confirmed) when one of the names resolves to the address. Null when we could not find out. */
  readonly isConfirmed: boolean | null;
  readonly score: number | null;
  readonly issues: readonly Issue[];
};

export const PTR_RULES = {
  // Gmail refuses such mail: 550 5.7.25, or 421 4.7.23.
  PTR_MISSING: {
    ...high(100),
    message: "{ip} has no name (PTR record). Large receivers refuse mail from such addresses.",
  },
  PTR_MISMATCH: {
    ...high(60),
    message: "{ip} has the name {name}, and that name does not resolve back to {ip}.",
  },
  PTR_GENERIC: {
    ...medium(25),
    message: "{ip} is called {name}, as addresses in a provider's pool are.",
  },
  PTR_SEVERAL: {
    ...low(5),
    message:
      "{ip} has {n} PTR records. Receivers use only one of them, and which one is not defined.",
  },
} as const satisfies IssueRules<string>;

const createIssue = createIssueFactory(PTR_RULES);

/** An address may have hundreds of names; receivers check a few, and so do we. */
const NAMES_MAX = 10;

/** Finds the name of a sending address, and whether the name resolves to the address (FCrDNS, RFC 8601 §2.7.3). */
export const analyseReverseDns = async (dns: Dns, ip: string): Promise<ReverseDns> => {
  const address = parseIp(ip);
  if (!address) return createUnknown([]);
  const ptr = await dns("PTR", toReverseName(address));
  if (isFault(ptr)) return createUnknown([]);
  if (isAbsent(ptr)) {
    const issues = [createIssue("PTR_MISSING", { ip })];
    return { status: "missing", name: null, names: [], isConfirmed: false, score: 0, issues };
  }

  const names = [...new Set(getRecords(ptr).map((name) => name.toLowerCase().replace(/\.$/, "")))];
  const type = address.bits === 32 ? "A" : "AAAA";
  const forward = await Promise.all(names.slice(0, NAMES_MAX).map((name) => dns(type, name)));
  const pointsBack = (outcome: (typeof forward)[number]): boolean =>
    getRecords(outcome).some((text) => isSameIp(parseIp(text), address));
  const confirmed = names[forward.findIndex(pointsBack)];
  if (confirmed === undefined && forward.some(isFault)) return createUnknown(names);

  const name = confirmed ?? names[0] ?? "";
  const issues = [
    ...(confirmed === undefined ? [createIssue("PTR_MISMATCH", { ip, name })] : []),
    // One name that is not generic suffices, whichever name the server lists first.
    ...(names.every((one) => isGeneric(one, address))
      ? [createIssue("PTR_GENERIC", { ip, name: joinNames(names) })]
      : []),
    ...(names.length > 1 ? [createIssue("PTR_SEVERAL", { ip, n: names.length })] : []),
  ];
  const isConfirmed = confirmed !== undefined;
  return { status: toStatus(issues), name, names, isConfirmed, score: scoreIssues(issues), issues };
};

const createUnknown = (names: readonly string[]): ReverseDns => ({
  status: "error",
  name: names[0] ?? null,
  names,
  isConfirmed: null,
  score: null,
  issues: [],
});

/** Only whole words match: "dynamics.example" and "whirlpool.example" are firms. */
const POOL_WORD =
  /(?:^|[^a-z])(?:dynamic|dyn|dhcp|pool|[av]?dsl|pppo?e?|cable|dial-?up)(?:ip)?(?:[^a-z]|$)|(?:^|[.-])compute-/;

/** Several receivers refuse names that a provider gives to whole blocks of addresses. */
const isGeneric = (name: string, address: Ip): boolean =>
  POOL_WORD.test(name) ||
  (address.bits === 32 && listSpellings(address).some((text) => includesNumber(name, text)));

const listSpellings = (address: Ip): readonly string[] => {
  const backwards = toReverseLabels(address).split(".");
  return [backwards, backwards.toReversed()].flatMap((octets) => {
    const padded = octets.map((octet) => octet.padStart(3, "0"));
    return [octets.join("-"), octets.join("."), padded.join("-"), padded.join("")];
  });
};

/** A digit next to the match would make another address: "192-0-2-10" does not contain 192.0.2.1. */
const includesNumber = (name: string, text: string): boolean => {
  const at = name.indexOf(text);
  const isDigit = (sign: string | undefined) => sign !== undefined && /\d/.test(sign);
  return at >= 0 && !isDigit(name[at - 1]) && !isDigit(name[at + text.length]);
};
