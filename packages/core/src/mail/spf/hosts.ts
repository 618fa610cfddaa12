import type { Dns, DnsOutcome, Mx } from "../dns/dns.ts";
import { isAskable, withoutFinalDot } from "./name.ts";
import { isMx, type Step, type Tree } from "./tree.ts";

/** What the names in a tree's terms came to, by lower-case name, as far as they were asked for. */
export type Hosts = {
  readonly addresses: ReadonlyMap<string, DnsOutcome<string>>;
  readonly mailHosts: ReadonlyMap<string, DnsOutcome<Mx>>;
};

type Bounds = { readonly questionsMax: number; readonly namesMax: number };

/** Looks up what a, mx and exists name, in the order of the tree, and then what the mx led to. */
export const readHosts = async (
  dns: Dns,
  tree: Tree,
  { questionsMax, namesMax }: Bounds,
): Promise<Hosts> => {
  const steps = [...tree.values()].flatMap((page) => page.steps);
  const [forMx, forA] = [steps.filter(isMx), steps.filter(asksForAddress)].map(namesIn);
  const mailNames = (forMx ?? []).slice(0, questionsMax);
  const names = (forA ?? []).slice(0, questionsMax - mailNames.length);
  const ask = async (name: string) => [name, await dns("A", name)] as const;

  const [mailHosts, addresses] = await Promise.all([
    Promise.all(mailNames.map(async (name) => [name, await dns("MX", name)] as const)),
    Promise.all(names.map(ask)),
  ]);
  const exchanges = mailHosts.flatMap(([, outcome]) => exchangesIn(outcome, namesMax));
  const others = [...new Set(exchanges)].filter((name) => !names.includes(name));
  const left = questionsMax - mailNames.length - names.length;
  const behind = await Promise.all(others.slice(0, left).map(ask));
  return { addresses: new Map([...addresses, ...behind]), mailHosts: new Map(mailHosts) };
};

const asksForAddress = ({ mechanism }: Step): boolean =>
  mechanism.kind === "a" || mechanism.kind === "exists";

const namesIn = (steps: readonly Step[]): readonly string[] => [
  ...new Set(steps.flatMap(({ name }) => (name && isAskable(name) ? [name.toLowerCase()] : []))),
];

/** None when there are more than a receiver would look at: then it looks at none (RFC 7208 §4.6.4). */
const exchangesIn = (outcome: DnsOutcome<Mx>, namesMax: number): readonly string[] =>
  outcome.kind === "ok" && outcome.records.length <= namesMax
    ? outcome.records
        .map(({ exchange }) => withoutFinalDot(exchange).toLowerCase())
        .filter(isAskable)
    : [];

/** The answers that a term with a known name got, its mail hosts' among them. */
export const answersTo = (
  { addresses, mailHosts }: Hosts,
  { mechanism, name }: Step,
  namesMax: number,
): readonly DnsOutcome<unknown>[] => {
  const key = name?.toLowerCase() ?? "";
  if (mechanism.kind === "a" || mechanism.kind === "exists") return present(addresses.get(key));
  const mx = mechanism.kind === "mx" ? mailHosts.get(key) : undefined;
  if (!mx) return [];
  return [mx, ...exchangesIn(mx, namesMax).flatMap((host) => present(addresses.get(host)))];
};

const present = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value]);
