import { findUp } from "./find-up.ts";
import { BUILT_IN, type Lists } from "./lists.ts";
import { findOrigin, type Origin, SOURCES, type Source } from "./origins.ts";
import { isOn } from "./pack.ts";

// Looks up a domain in the lists, with the reasons, for its owner and for people whose address was refused.

export const LISTED_AS = [
  "disposable",
  "possibly_disposable",
  "relay",
  "mistyped_provider",
  "free",
  "not_listed",
] as const;
type ListedAs = (typeof LISTED_AS)[number];

type Listing = {
  readonly as: ListedAs;
  /** True when an operator's change declares the domain not disposable. */
  readonly isAllowed: boolean;
  /** The edition's entry for the domain, or for the listed domain above it. */
  readonly origin: Partial<Origin>;
};

export const lookUpDomain = (lists: Lists, domain: string): Listing => {
  const as = classify(lists, domain);
  const decision = lists.decide(domain);
  const isAllowed = decision?.by === "operator" && !decision.disposable;
  const isOfEdition = isAllowed || (as === "disposable" && decision?.by === "edition");
  const origin = isOfEdition ? findUp(domain, findOrigin) : undefined;
  return { as, isAllowed, origin: origin ?? { sources: listSources(lists, as, domain) } };
};

const classify = (lists: Lists, domain: string): ListedAs => {
  if (lists.disposable(domain)) return "disposable";
  if (lists.disposableHint(domain)) return "possibly_disposable";
  if (lists.relay(domain)) return "relay";
  if (lists.squat(domain) !== null) return "mistyped_provider";
  return lists.free(domain) ? "free" : "not_listed";
};

const LISTS: Partial<Record<ListedAs, string>> = {
  disposable: "disposable",
  possibly_disposable: "broad",
  free: "free",
};

/** The sources of the whole list when the sources of the domain are unknown. Absent for operators' changes and for our own lists. */
const listSources = (lists: Lists, as: ListedAs, domain: string): readonly Source[] => {
  const of = lists.versions.find(({ list }) => list === LISTS[as]);
  const isOurs = as === "free" && !isOn(BUILT_IN.lists.free, domain);
  if (!of || isOurs || lists.decide(domain)?.by === "operator") return [];
  return of.source.split(" and ").filter((name): name is Source => name in SOURCES);
};
