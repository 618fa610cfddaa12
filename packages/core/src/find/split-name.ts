import { foldName, isSyllabic } from "./spelling/spell-word.ts";

export type RawWord = readonly string[];

export type SplitName = {
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

export const splitName = (typed: string, as: "first" | "last"): SplitName => {
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
