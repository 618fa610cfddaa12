import { FAMILY_NAMES, GIVEN_NAMES } from "@mailproof/mail/signals/name-words";
import {
  chooseFamilyRules,
  chooseGivenRules,
  type JoinRule,
  joinWords,
  type Word,
} from "./join-rules.ts";
import { NICKNAMES } from "./nicknames.ts";
import type { Person } from "./spelling/spell-word.ts";
import {
  foldName,
  guessReading,
  isSyllabic,
  type Reading,
  spellWord,
} from "./spelling/spell-word.ts";
import { combineWays, type Weighted } from "./weighted.ts";

type RawWord = readonly string[];

type SplitName = {
  /** Initials before the first full word: J. Robert. */
  readonly before: readonly string[];
  readonly words: readonly RawWord[];
  /** Initials after that word: Robert J. */
  readonly after: readonly string[];
};

const TITLES: ReadonlySet<string> = new Set(
  "dr prof mr mrs ms miss herr frau sir dame jr sr ii iii iv phd md mba esq".split(" "),
);
const DOTTED_TITLES = /(?<!\p{L})ph\.\s*d(?!\p{L})/giu;
const APOSTROPHES = /['’‘ʼʹ`´]/g;
/** The beginning of a family name before a space: O Brien, D' Souza, 't Hooft, Mc Donald, St. John. */
const SPLIT_PREFIX =
  /(?<=^|\s)(['’‘ʼʹ`´]t|\p{L}(?=['’‘ʼʹ`´])|[oó]|ma?c|st)[.'’‘ʼʹ`´]*\s+(?=\p{L})/giu;

const splitName = (typed: string, as: "first" | "last"): SplitName => {
  const name = typed.normalize("NFC");
  const joined = as === "last" ? name.replaceAll(SPLIT_PREFIX, "$1") : name;
  const words = foldName(joined.replaceAll(DOTTED_TITLES, " ").replaceAll(APOSTROPHES, ""))
    .split(/[\s.,_/()・]+/)
    .map((word) =>
      word
        .split(/[-‐-―]/)
        .map(removeNonLetters)
        .filter(Boolean),
    )
    .filter((word) => word.length > 0);
  const own = filterOrAll(words, (word) => !TITLES.has(word.join("-")));
  const latin = filterOrAll(own, (word) => LATIN.test(word.join("")));
  const at = latin.findIndex((word) => !isInitial(word));
  // A name of initials only, such as X, keeps them.
  if (at === -1) return { before: [], words: latin, after: [] };
  return {
    before: latin.slice(0, at).flat(),
    words: latin.slice(at).filter((word) => !isInitial(word)),
    after: latin.slice(at).filter(isInitial).flat(),
  };
};

/** Beside Latin letters, other letters repeat the name: Wei (伟). */
const LATIN = /\p{Script=Latin}/u;

const isInitial = (word: RawWord): boolean =>
  word.length === 1 && Array.from(word[0] ?? "").length === 1 && !isSyllabic(word[0] ?? "");

/** Keeps the words that fit, or all words when none fits: a Mr. Sir is really called Sir. */
const filterOrAll = (
  words: readonly RawWord[],
  fits: (word: RawWord) => boolean,
): readonly RawWord[] => {
  const fitting = words.filter(fits);
  return fitting.length > 0 ? fitting : words;
};

const removeNonLetters = (text: string): string =>
  /\p{L}/u.test(text) ? text.replaceAll(/[^\p{L}\p{M}\u200c\u200d]/gu, "") : "";

/** One way to write a name in a local part, and its likelihood. The weights of one name's forms add up to 1. */
export type NameForm = { readonly text: string; readonly weight: number };

export type PersonForms = {
  readonly first: readonly NameForm[];
  readonly last: readonly NameForm[];
  /** The initials for patterns with a letter of the first name: Jean-Luc gives j, and in some companies jl. */
  readonly initials: readonly NameForm[];
  /** Empty when the client sent no middle name. */
  readonly middles: readonly NameForm[];
  readonly middleShare: number;
};

/** Lists every way to write this person's names; null when one of them has only unsupported scripts. */
export const listNameForms = (person: Person, domain: string): PersonForms | null => {
  const reading = guessReading(person, domain);
  const [given, family] = [splitName(person.first, "first"), splitName(person.last, "last")];
  const spelledGiven = spellWords(given.words, "first", reading);
  const hasSyllables = isSyllabic(person.first);
  const first = addNicknames(
    applyRules(spelledGiven, (words) => chooseGivenRules(words, hasSyllables)),
  );
  const last = applyRules(spellWords(family.words, "last", reading), chooseFamilyRules);
  if (first.length === 0 || last.length === 0) return null;
  const toLetters = (initials: readonly string[]) =>
    initials.flatMap(
      (one) => spellWord(one, "first", reading)[0]?.value.join("").slice(0, 1) ?? [],
    );
  return {
    first,
    last,
    initials: listInitials(first, spelledGiven, toLetters(given.before)),
    ...listMiddles(toLetters([...given.after, ...family.before]), hasSyllables ? [] : spelledGiven),
  };
};

export type NameFault = "missing" | "no_letters" | "other_script";

export const findNameFaults = (person: Person, domain: string) => {
  const reading = guessReading(person, domain);
  return {
    first: findFault(person.first, "first", reading),
    last: findFault(person.last, "last", reading),
  };
};

const findFault = (name: string, as: "first" | "last", reading: Reading): NameFault | null => {
  if (spellWords(splitName(name, as).words, as, reading).length > 0) return null;
  if (/\p{L}/u.test(name)) return "other_script";
  return /[^\p{Z}\p{C}]/u.test(name) ? "no_letters" : "missing";
};

/** Tests whether first and last name look swapped: the first is known only as a family name, the last only as a given name. */
export const looksSwapped = (person: Person): boolean => {
  const reading = guessReading(person, "");
  return (
    isOnly(person.first, "last", reading, familyNames, givenNames) &&
    isOnly(person.last, "first", reading, givenNames, familyNames)
  );
};

const givenNames: ReadonlySet<string> = new Set(GIVEN_NAMES);
const familyNames: ReadonlySet<string> = new Set(FAMILY_NAMES);

const isOnly = (
  name: string,
  as: "first" | "last",
  reading: Reading,
  among: ReadonlySet<string>,
  not: ReadonlySet<string>,
): boolean => {
  const spellings = spellWords(splitName(name, as).words, as, reading).map(({ value }) =>
    joinWords(value),
  );
  return spellings.some((text) => among.has(text)) && !spellings.some((text) => not.has(text));
};

/** Leaves out words in unsupported scripts. Empty when no word is left. */
const spellWords = (
  words: readonly RawWord[],
  as: "first" | "last",
  reading: Reading,
): readonly Weighted<readonly Word[]>[] => {
  const spelled = words
    .map((parts) =>
      combineWays(parts.map((part) => spellWord(part, as, reading)).filter(isNotEmpty)).map(
        ({ value, weight }) => ({ value: value.flat(), weight }),
      ),
    )
    .filter((ways) => (ways[0]?.value.length ?? 0) > 0);
  return spelled.length === 0 ? [] : combineWays(spelled);
};

const isNotEmpty = (list: readonly unknown[]): boolean => list.length > 0;

const applyRules = (
  spelled: readonly Weighted<readonly Word[]>[],
  chooseRules: (words: readonly Word[]) => readonly JoinRule[],
): readonly NameForm[] =>
  mergeForms(
    spelled.flatMap(({ value: words, weight }) =>
      chooseRules(words).map(([join, share]) => ({ text: join(words), weight: share * weight })),
    ),
  );

/** With this likelihood a Robert's address says bob. */
const NICKNAME = 0.08;

const addNicknames = (forms: readonly NameForm[]): readonly NameForm[] =>
  mergeForms(
    forms.flatMap(({ text, weight }) => {
      const short = NICKNAMES.get(text) ?? [];
      if (short.length === 0) return [{ text, weight }];
      const others = short.map((one) => ({
        text: one,
        weight: (NICKNAME * weight) / short.length,
      }));
      return [{ text, weight: (1 - NICKNAME) * weight }, ...others];
    }),
  );

/** The likelihood that a name of several parts contributes all their letters: jl, or mj for Min-jun. */
const ALL_LETTERS = 0.4;
/** J. Robert contributes j, r or jr. */
const LEADING: readonly (readonly [(leading: string, first: string) => string, number])[] = [
  [(leading) => leading, 0.5],
  [(_, first) => first, 0.3],
  [(leading, first) => leading + first, 0.2],
];

const listInitials = (
  first: readonly NameForm[],
  spelled: readonly Weighted<readonly Word[]>[],
  leading: readonly string[],
): readonly NameForm[] => {
  const letters = mergeForms(first.map(({ text, weight }) => ({ text: text.slice(0, 1), weight })));
  if (leading.length > 0)
    return mergeForms(
      letters.flatMap(({ text, weight }) =>
        LEADING.map(([join, share]) => ({
          text: join(leading.join(""), text),
          weight: weight * share,
        })),
      ),
    );
  const all = spelled.flatMap(({ value: words, weight }) =>
    words.length === 1 && (words[0]?.length ?? 0) > 1
      ? [{ text: (words[0] ?? []).map((part) => part.slice(0, 1)).join(""), weight }]
      : [],
  );
  if (all.length === 0) return letters;
  return mergeForms([
    ...letters.map(({ text, weight }) => ({ text, weight: weight * (1 - ALL_LETTERS) })),
    ...all.map(({ text, weight }) => ({ text, weight: weight * ALL_LETTERS })),
  ]);
};

/** A person who writes a middle initial often has it in the address, too; a full second given name is weaker evidence. */
const INITIAL_SHARE = 0.52;
const SECOND_NAME_SHARE = 0.1;

const listMiddles = (
  given: readonly string[],
  spelled: readonly Weighted<readonly Word[]>[],
): Pick<PersonForms, "middles" | "middleShare"> => {
  const [one = "", ...more] = given;
  if (one !== "")
    return {
      middles:
        more.length > 0
          ? [
              { text: one, weight: 0.7 },
              { text: given.join(""), weight: 0.3 },
            ]
          : [{ text: one, weight: 1 }],
      middleShare: INITIAL_SHARE,
    };
  const middles = mergeForms(
    spelled.map(({ value, weight }) => ({ text: value[1]?.[0]?.slice(0, 1) ?? "", weight })),
  );
  return { middles, middleShare: middles.length > 0 ? SECOND_NAME_SHARE : 0 };
};

const mergeForms = (forms: readonly NameForm[]): readonly NameForm[] => {
  const weights = new Map<string, number>();
  for (const { text, weight } of forms)
    if (text !== "") weights.set(text, (weights.get(text) ?? 0) + weight);
  return [...weights].map(([text, weight]) => ({ text, weight }));
};
