import { hash } from "node:crypto";
import type { ChangedList, ListChange } from "./changes.ts";
import { disposable } from "./data/disposable.ts";
import { free } from "./data/free.ts";
import { rareEndings } from "./data/rare-endings.ts";
import { EDITION } from "./edition.ts";
import { findUp } from "./find-up.ts";
import { type DomainList, isOn, type ListVersion } from "./pack.ts";
import { squats } from "./providers.ts";
import { relayDomains } from "./relays.ts";
import { findRole, isRoleWord, listSpellings, roleWords } from "./roles.ts";
import { TRAP_LOCAL, trapAddresses } from "./traps.ts";
import { webmailDomains } from "./webmail.ts";

/** The answer whether a domain is disposable, and who gave it. */
type Decision = {
  readonly disposable: boolean;
  readonly by: "operator" | "mailproof" | "edition";
};

/** Domains are in A-labels and lower case, addresses canonical. Nothing here is ever unknown: absent is no. */
export type Lists = {
  /** Gives mailboxes away for minutes. A subdomain of such a domain counts too. */
  readonly disposable: (domain: string) => boolean;
  /** Undefined: nothing names the domain or one above it. */
  readonly decide: (domain: string) => Decision | undefined;
  /** Only on the broad lists, which also hold ordinary domains: a signal, never a verdict on its own. */
  readonly disposableHint: (domain: string) => boolean;
  /** A provider that is open to the public; exactly this domain, since a subdomain has an owner of its own. */
  readonly free: (domain: string) => boolean;
  readonly role: (local: string) => string | null;
  readonly trap: (address: string, domain: string) => boolean;
  /** Passes mail on to a person. */
  readonly relay: (domain: string) => boolean;
  /**
   * The provider that people mean who type this domain by mistake: its owner holds it for that, and offers no mailboxes.
   * Null for any other domain.
   */
  readonly squat: (domain: string) => string | null;
  /** Whether the last label looks like a slip of a common ending and is none: the root has it. */
  readonly rareEnding: (domain: string) => boolean;
  /** The version of the lists that have a release of their own, all together. */
  readonly edition: string;
  readonly versions: readonly ListVersion[];
  /** The lists as they are now, unchanged while one address is verified. */
  readonly current: () => Lists;
};

/** The lists that have their own releases. Without `broad` there are no hints. */
export type ListEdition = {
  readonly version: string;
  readonly lists: {
    readonly disposable: DomainList;
    readonly free: DomainList;
    readonly rareEndings: DomainList;
    readonly broad?: DomainList;
  };
};

/** `broad` is not among them because it is large: a bundle that does not name it does not carry it. */
export const BUILT_IN: ListEdition = {
  version: EDITION,
  lists: { disposable, free, rareEndings },
};

const relays: ReadonlySet<string> = new Set(relayDomains);
const webmail: ReadonlySet<string> = new Set(webmailDomains);
const traps: ReadonlySet<string> = new Set(trapAddresses);

const OURS: Decision = { disposable: false, by: "mailproof" };
const LISTED: Decision = { disposable: true, by: "edition" };

/** We vouch for these, so no list of others makes them disposable. */
export const isTrusted = (domain: string): boolean => relays.has(domain) || webmail.has(domain);

/**
 * The lists of an edition, with an operator's changes on top. At each level of a domain the operator is asked
 * first, then the domains we vouch for, then the list; the most specific level that has an answer gives it.
 */
export const createLists = (
  changes: readonly ListChange[] = [],
  { version, lists: listed }: ListEdition = BUILT_IN,
): Lists => {
  const { broad } = listed;
  const changed = groupByList(changes);
  const decide = (domain: string): Decision | undefined =>
    findUp(domain, (at) => {
      const decided = changed.disposable.get(at) ?? (changed.relay.get(at) ? false : undefined);
      if (decided !== undefined) return { disposable: decided, by: "operator" };
      // The broad lists that these lists come from take a parked typo domain for a giver of mailboxes.
      if (isTrusted(at) || squats.has(at)) return OURS;
      return isOn(listed.disposable, at) ? LISTED : undefined;
    });
  const isDisposable = (domain: string): boolean | undefined => decide(domain)?.disposable;
  const isTrapDomain = (domain: string) => findUp(domain, (at) => changed.trap.get(at));
  const isRole = (spelling: string) => changed.role.get(spelling) ?? isRoleWord(spelling);

  const lists: Lists = {
    disposable: (domain) => isDisposable(domain) === true,
    decide,
    disposableHint: (domain) =>
      broad !== undefined &&
      isDisposable(domain) === undefined &&
      findUp(domain, (at) => isOn(broad, at) || undefined) === true,
    free: (domain) =>
      changed.free.get(domain) ??
      ((webmail.has(domain) || isOn(listed.free, domain)) && isDisposable(domain) !== true),
    role: (local) => findRole(local, isRole),
    trap: (address, domain) =>
      changed.trap.get(address) ??
      isTrapDomain(domain) ??
      (traps.has(address) || TRAP_LOCAL.test(address)),
    relay: (domain) =>
      findUp(domain, (at) => changed.relay.get(at) ?? (relays.has(at) || undefined)) === true,
    squat: (domain) =>
      isDisposable(domain) === true
        ? null
        : (findUp(domain, (at) =>
            changed.free.get(at) || changed.relay.get(at) ? null : squats.get(at),
          ) ?? null),
    rareEnding: (domain) =>
      isOn(listed.rareEndings, `${domain.slice(domain.lastIndexOf(".") + 1)}.`),
    edition: version,
    versions: [
      ...[listed.disposable, listed.free, ...(broad ? [broad] : [])].map(toVersion),
      ...OWN,
      ...(changes.length > 0 ? [createVersion("changes", "operator", changes.map(toLine))] : []),
    ],
    current: () => lists,
  };
  return lists;
};

/** Lists that can be replaced while they are in use. */
export const createReplaceableLists = (first: Lists) => {
  let now = first;
  const lists: Lists = {
    disposable: (domain) => now.disposable(domain),
    decide: (domain) => now.decide(domain),
    disposableHint: (domain) => now.disposableHint(domain),
    free: (domain) => now.free(domain),
    role: (local) => now.role(local),
    trap: (address, domain) => now.trap(address, domain),
    relay: (domain) => now.relay(domain),
    squat: (domain) => now.squat(domain),
    rareEnding: (domain) => now.rareEnding(domain),
    get edition() {
      return now.edition;
    },
    get versions() {
      return now.versions;
    },
    current: () => now,
  };
  const replace = (next: Lists): void => {
    now = next;
  };
  return { lists, replace };
};

type ChangedEntries = Readonly<Record<ChangedList, ReadonlyMap<string, boolean>>>;

const groupByList = (changes: readonly ListChange[]): ChangedEntries => {
  const of = (list: ChangedList, keysOf = (entry: string): readonly string[] => [entry]) =>
    new Map(
      changes
        .filter((change) => change.list === list)
        .flatMap(({ add, entry }) => keysOf(entry).map((key) => [key, add] as const)),
    );
  return {
    disposable: of("disposable"),
    free: of("free"),
    relay: of("relay"),
    trap: of("trap"),
    role: of("role", listSpellings),
  };
};

const toLine = ({ add, list, entry }: ListChange): string => `${add ? "+" : "-"}${list} ${entry}`;

const toVersion = ({ list, source, version, entries, sha256 }: ListVersion): ListVersion => ({
  list,
  source,
  version,
  entries,
  sha256,
});

/** A list of our own has no release: what it holds is its version. */
const createVersion = (list: string, source: string, entries: readonly string[]): ListVersion => {
  const sha256 = hash("sha256", entries.toSorted().join("\n"));
  return { list, source, version: sha256.slice(0, 12), entries: entries.length, sha256 };
};

const OWN: readonly ListVersion[] = [
  createVersion("webmail", "mailproof", webmailDomains),
  createVersion("relay", "mailproof", relayDomains),
  createVersion("role", "mailproof", roleWords),
  createVersion("trap", "mailproof", trapAddresses),
  createVersion("squat", "mailproof", [...squats.keys()]),
];
