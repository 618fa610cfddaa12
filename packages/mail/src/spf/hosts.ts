import type { Dns, DnsOutcome, MxRecordData } from "../dns/dns.ts";
import { isAskable, removeFinalDot } from "./name.ts";
import { isMx, type SpfStep, type SpfTree } from "./tree.ts";

/** The DNS results for the names in a tree's terms, by lower-case name. Names that were not queried are absent. */
export type SpfHosts = {
  readonly addresses: ReadonlyMap<string, DnsOutcome<string>>;
  readonly mailHosts: ReadonlyMap<string, DnsOutcome<MxRecordData>>;
};

type Bounds = { readonly questionsMax: number; readonly namesMax: number };

/** Looks up the names of a, mx and exists in the order of the tree, and then the hosts of the mx. */
export const readHosts = async (
  dns: Dns,
  tree: SpfTree,
  { questionsMax, namesMax }: Bounds,
): Promise<SpfHosts> => {
  const steps = [...tree.values()].flatMap((page) => page.steps);
  const [forMx, forA] = [steps.filter(isMx), steps.filter(asksForAddress)].map(listNames);
  const mailNames = (forMx ?? []).slice(0, questionsMax);
  const names = (forA ?? []).slice(0, questionsMax - mailNames.length);
  const query = async (name: string) => [name, await dns("A", name)] as const;

  const [mailHosts, addresses] = await Promise.all([
    Promise.all(mailNames.map(async (name) => [name, await dns("MX", name)] as const)),
    Promise.all(names.map(query)),
  ]);
  const exchanges = mailHosts.flatMap(([, outcome]) => listExchanges(outcome, namesMax));
  const others = [...new Set(exchanges)].filter((name) => !names.includes(name));
  const left = questionsMax - mailNames.length - names.length;
  const behind = await Promise.all(others.slice(0, left).map(query));
  return { addresses: new Map([...addresses, ...behind]), mailHosts: new Map(mailHosts) };
};

const asksForAddress = ({ mechanism }: SpfStep): boolean =>
  mechanism.kind === "a" || mechanism.kind === "exists";

const listNames = (steps: readonly SpfStep[]): readonly string[] => [
  ...new Set(steps.flatMap(({ name }) => (name && isAskable(name) ? [name.toLowerCase()] : []))),
];

/** Empty when the names exceed a receiver's limit: a receiver then looks up none (RFC 7208 §4.6.4). */
const listExchanges = (outcome: DnsOutcome<MxRecordData>, namesMax: number): readonly string[] =>
  outcome.kind === "ok" && outcome.records.length <= namesMax
    ? outcome.records
        .map(({ exchange }) => removeFinalDot(exchange).toLowerCase())
        .filter(isAskable)
    : [];

export const getAnswers = (
  { addresses, mailHosts }: SpfHosts,
  { mechanism, name }: SpfStep,
  namesMax: number,
): readonly DnsOutcome<unknown>[] => {
  const key = name?.toLowerCase() ?? "";
  if (mechanism.kind === "a" || mechanism.kind === "exists") return isPresent(addresses.get(key));
  const mx = mechanism.kind === "mx" ? mailHosts.get(key) : undefined;
  if (!mx) return [];
  return [mx, ...listExchanges(mx, namesMax).flatMap((host) => isPresent(addresses.get(host)))];
};

const isPresent = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value]);
