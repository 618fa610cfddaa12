import type { Weighted } from "../weighted.ts";
import { readWord } from "./alphabets.ts";
import { CYRILLIC, type CyrillicLanguage } from "./cyrillic-letters.ts";
import { getTables } from "./tables.ts";

/** Letters and endings that only one language uses, the rarest first. Kazakh and its neighbours are read as Russian. */
const BY_LETTER: readonly (readonly [RegExp, CyrillicLanguage])[] = [
  [/[әғқңөұүһ]/, "ru"],
  [/[ѓќѕ]/, "mk"],
  [/[ђћљњџј]/, "sr"],
  [/ў|^(?=.*і)(?=.*[ыэё])/s, "be"],
  [/[іїєґ]/, "uk"],
  [/[ыэё]/, "ru"],
  [/[сц]ьк(?:ий|а)(?!\p{L})/u, "uk"],
  [/ъ(?![еёюя])/, "bg"],
];

const BY_COUNTRY: Readonly<Record<string, CyrillicLanguage>> = {
  ua: "uk",
  bg: "bg",
  rs: "sr",
  me: "sr",
  ba: "sr",
  mk: "mk",
};

const CYRILLIC_LETTER = /\p{Script=Cyrillic}/u;

const LANGUAGES = Object.keys(CYRILLIC) as readonly CyrillicLanguage[];

/** Guesses by the letters of both names, then by a given name of only one language, then by the domain's country. */
export const guessCyrillicLanguage = (
  names: string,
  given: readonly string[],
  country: string,
): CyrillicLanguage => {
  if (!CYRILLIC_LETTER.test(names)) return "ru";
  const byLetter = BY_LETTER.find(([letters]) => letters.test(names))?.[1];
  if (byLetter) return byLetter;
  const tables = getTables().cyrillic;
  const knowing = LANGUAGES.filter((one) => given.some((name) => tables[one].has(name)));
  const byCountry = BY_COUNTRY[country];
  if (byCountry && (knowing.length === 0 || knowing.includes(byCountry))) return byCountry;
  return knowing[0] ?? "ru";
};

/** Spells a known given name as people do, and any other word letter by letter. */
export const spellCyrillic = (
  word: string,
  as: "first" | "last",
  language: CyrillicLanguage,
): readonly Weighted<string>[] =>
  (as === "first" ? getTables().cyrillic[language].get(word) : undefined) ??
  readWord(word, CYRILLIC[language]);
