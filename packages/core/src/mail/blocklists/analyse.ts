import type { Dns } from "../dns/dns.ts";
import { parseIp, reverseLabels } from "../ip.ts";
import type { Issue } from "../issue.ts";
import { scoreOf } from "../rules.ts";
import { readAnswer, type Verdict } from "./answer.ts";
import type { IsHealthy } from "./health.ts";
import type { Blocklist } from "./lists.ts";

/** Keys by what a list says that it needs: settings, and secret. */
export type Keys = Readonly<Record<string, string>>;

export type ListOutcome = {
  readonly list: Blocklist;
  readonly verdict: Verdict | { readonly kind: "skipped"; readonly why: Skipped };
};

type Skipped = "no_key" | "unhealthy" | "no_ip";

export type Listing = {
  readonly id: string;
  readonly name: string;
  /** The address or the domain that is on the list. */
  readonly listed: string;
  readonly codes: readonly string[];
  readonly says: string;
  readonly removal: string;
};

export type Reputation = {
  /** Null where no list gave a verdict. */
  readonly score: number | null;
  /** checked + inconclusive + skipped = total, and listed is a part of checked. */
  readonly checked: number;
  readonly inconclusive: number;
  readonly skipped: number;
  readonly total: number;
  readonly listed: number;
  readonly listedOn: readonly Listing[];
  readonly outcomes: readonly ListOutcome[];
  readonly issues: readonly Issue[];
};

type Input = {
  readonly domain: string;
  /** Null: none was given, and the domain's mail hosts have none. */
  readonly ip: string | null;
  readonly lists: readonly Blocklist[];
  readonly keys: Keys;
  readonly isHealthy: IsHealthy;
};

/** What the blocklists say about an address and a domain. */
export const analyseBlocklists = async (dns: Dns, input: Input): Promise<Reputation> => {
  const outcomes = await Promise.all(
    input.lists.map(async (list) => ({ list, verdict: await ask(dns, list, input) })),
  );
  const count = (...kinds: readonly ListOutcome["verdict"]["kind"][]) =>
    outcomes.filter(({ verdict }) => kinds.includes(verdict.kind)).length;
  const listings = outcomes.flatMap(({ list, verdict }) =>
    verdict.kind === "listed" ? [{ list, verdict, listed: subjectOf(list, input) ?? "" }] : [],
  );
  const checked = count("listed", "not_listed");
  const issues = [...listings.map(issueOf), ...unansweredOf(count("inconclusive"))];
  return {
    score: checked === 0 ? null : scoreOf(issues),
    checked,
    inconclusive: count("inconclusive"),
    skipped: count("skipped"),
    total: outcomes.length,
    listed: listings.length,
    listedOn: listings.map(({ list, verdict, listed }) => ({
      id: list.id,
      name: list.name,
      listed,
      codes: verdict.codes,
      says: verdict.meaning.says,
      removal: list.removal,
    })),
    outcomes,
    issues,
  };
};

const subjectOf = ({ asks }: Blocklist, { ip, domain }: Input): string | null =>
  asks === "ip" ? ip : domain;

const ask = async (dns: Dns, list: Blocklist, input: Input): Promise<ListOutcome["verdict"]> => {
  const zone = zoneOf(list, input.keys);
  if (zone === null) return { kind: "skipped", why: "no_key" };
  const subject = subjectOf(list, input);
  const address = list.asks === "ip" && subject !== null ? parseIp(subject) : undefined;
  const name = list.asks === "ip" ? address && reverseLabels(address) : subject;
  if (!name) return { kind: "skipped", why: "no_ip" };
  if (!(await input.isHealthy(dns, list, zone))) return { kind: "skipped", why: "unhealthy" };
  return readAnswer(list.codes, await dns("A", `${name}.${zone}`));
};

/** What is no label would make another name of the zone. */
const KEY = /^[a-z\d]{1,63}$/i;

const zoneOf = ({ zone, needs }: Blocklist, keys: Keys): string | null => {
  const key = needs && keys[needs.key];
  if (needs && !key) return null;
  if (!key || !needs.isInZone) return zone;
  return KEY.test(key) ? zone.replace("KEY", key) : null;
};

type Found = {
  readonly list: Blocklist;
  readonly verdict: Extract<Verdict, { readonly kind: "listed" }>;
  readonly listed: string;
};

/** One per list: severity and cost are of the gravest of its codes. */
const issueOf = ({ list, verdict, listed }: Found): Issue => {
  const { says, severity, costPoints } = verdict.meaning;
  return {
    id: `LISTED:${list.id}`,
    severity,
    message: `${listed} is on ${list.name} (${says}).`,
    detail: {
      listed,
      list: list.name,
      says,
      url: list.removal,
      spam: list.spamPoints ?? costPoints,
    },
    costPoints,
  };
};

const unansweredOf = (n: number): readonly Issue[] =>
  n === 0
    ? []
    : [
        {
          id: "BLOCKLISTS_INCONCLUSIVE",
          severity: "info",
          message: `${n} blocklists gave no verdict, which counts neither way.`,
          detail: { n },
          costPoints: 0,
        },
      ];
