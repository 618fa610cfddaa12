import type { Dns } from "../dns/dns.ts";
import { parseIp, toReverseLabels } from "../ip.ts";
import type { Issue } from "../issue.ts";
import { scoreIssues } from "../issue-rules.ts";
import type { IsHealthy } from "./health.ts";
import type { Blocklist } from "./lists.ts";
import { type BlocklistVerdict, parseAnswer } from "./parse-answer.ts";

export type BlocklistKeys = Readonly<Record<string, string>>;

export type BlocklistOutcome = {
  readonly list: Blocklist;
  readonly verdict: BlocklistVerdict | { readonly kind: "skipped"; readonly why: Skipped };
};

type Skipped = "no_key" | "unhealthy" | "no_ip";

export type BlocklistListing = {
  readonly id: string;
  readonly name: string;
  readonly listed: string;
  readonly codes: readonly string[];
  readonly says: string;
  readonly removal: string;
};

export type Reputation = {
  readonly score: number | null;
  /** The sum of checked, inconclusive and skipped is the total; `checked` includes the lists with a listing. */
  readonly checked: number;
  readonly inconclusive: number;
  readonly skipped: number;
  readonly total: number;
  readonly listed: number;
  readonly listedOn: readonly BlocklistListing[];
  readonly outcomes: readonly BlocklistOutcome[];
  readonly issues: readonly Issue[];
};

type BlocklistInput = {
  readonly domain: string;
  readonly ip: string | null;
  readonly lists: readonly Blocklist[];
  readonly keys: BlocklistKeys;
  readonly isHealthy: IsHealthy;
};

export const analyseBlocklists = async (dns: Dns, input: BlocklistInput): Promise<Reputation> => {
  const outcomes = await Promise.all(
    input.lists.map(async (list) => ({ list, verdict: await queryList(dns, list, input) })),
  );
  const count = (...kinds: readonly BlocklistOutcome["verdict"]["kind"][]) =>
    outcomes.filter(({ verdict }) => kinds.includes(verdict.kind)).length;
  const listings = outcomes.flatMap(({ list, verdict }) =>
    verdict.kind === "listed" ? [{ list, verdict, listed: getSubject(list, input) ?? "" }] : [],
  );
  const checked = count("listed", "not_listed");
  const issues = [...listings.map(createIssue), ...listUnansweredIssues(count("inconclusive"))];
  return {
    score: checked === 0 ? null : scoreIssues(issues),
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

const getSubject = ({ asks }: Blocklist, { ip, domain }: BlocklistInput): string | null =>
  asks === "ip" ? ip : domain;

const queryList = async (
  dns: Dns,
  list: Blocklist,
  input: BlocklistInput,
): Promise<BlocklistOutcome["verdict"]> => {
  const zone = getZone(list, input.keys);
  if (zone === null) return { kind: "skipped", why: "no_key" };
  const subject = getSubject(list, input);
  const address = list.asks === "ip" && subject !== null ? parseIp(subject) : undefined;
  const name = list.asks === "ip" ? address && toReverseLabels(address) : subject;
  if (!name) return { kind: "skipped", why: "no_ip" };
  if (!(await input.isHealthy(dns, list, zone))) return { kind: "skipped", why: "unhealthy" };
  return parseAnswer(list.codes, await dns("A", `${name}.${zone}`));
};

/** Text that is not a label would change the name of the zone. */
const KEY = /^[a-z\d]{1,63}$/i;

const getZone = ({ zone, needs }: Blocklist, keys: BlocklistKeys): string | null => {
  const key = needs && keys[needs.key];
  if (needs && !key) return null;
  if (!key || !needs.isInZone) return zone;
  return KEY.test(key) ? zone.replace("KEY", key) : null;
};

type FoundListing = {
  readonly list: Blocklist;
  readonly verdict: Extract<BlocklistVerdict, { readonly kind: "listed" }>;
  readonly listed: string;
};

const createIssue = ({ list, verdict, listed }: FoundListing): Issue => {
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

const listUnansweredIssues = (n: number): readonly Issue[] =>
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
