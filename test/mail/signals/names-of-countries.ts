import { allLocales, type LocaleDefinition } from "@faker-js/faker";
import { foldName, guessReading, spellWord } from "@mailproof/core/find/spelling/spell-word";
import { NAMES_BY_COUNTRY } from "@mailproof/mail/signals/name-likeness";
import { COMMON_WORDS, FAMILY_NAMES, GIVEN_NAMES } from "@mailproof/mail/signals/name-words";
import { createRandom } from "../../simulation/random.ts";

// Local parts of people by country, of names in faker's lists that the spelling model has not read. Each name is written in
// a to z as its country writes it: in the official spelling, or in one of the other usual ones.

type Locale = keyof typeof allLocales;

/** Those of faker that have names of people in letters that this service spells; the country says how. */
const COUNTRIES: readonly (readonly [locale: Locale, country: string, title: string])[] = [
  ["af_ZA", "za", "South Africa (Afrikaans)"],
  ["zu_ZA", "za", "South Africa (Zulu)"],
  ["yo_NG", "ng", "Nigeria (Yoruba)"],
  ["en_IN", "in", "India"],
  ["ne", "np", "Nepal"],
  ["id_ID", "id", "Indonesia"],
  ["vi", "vn", "Vietnam"],
  ["zh_CN", "cn", "China"],
  ["ja", "jp", "Japan"],
  ["ko", "kr", "Korea"],
  ["uz_UZ_latin", "uz", "Uzbekistan"],
  ["az", "az", "Azerbaijan"],
  ["tr", "tr", "Turkey"],
  ["ku_kmr_latin", "tr", "Kurdish"],
  ["hy", "am", "Armenia"],
  ["ka_GE", "ge", "Georgia"],
  ["el", "gr", "Greece"],
  ["mk", "mk", "North Macedonia"],
  ["sr_RS_latin", "rs", "Serbia"],
  ["hr", "hr", "Croatia"],
  ["sl_SI", "si", "Slovenia"],
  ["ru", "ru", "Russia"],
  ["uk", "ua", "Ukraine"],
  ["lv", "lv", "Latvia"],
  ["pl", "pl", "Poland"],
  ["cs_CZ", "cz", "Czechia"],
  ["sk", "sk", "Slovakia"],
  ["hu", "hu", "Hungary"],
  ["ro", "ro", "Romania"],
  ["fi", "fi", "Finland"],
  ["sv", "se", "Sweden"],
  ["nb_NO", "no", "Norway"],
  ["da", "dk", "Denmark"],
  ["de", "de", "Germany"],
  ["nl", "nl", "Netherlands"],
  ["fr", "fr", "France"],
  ["it", "it", "Italy"],
  ["es", "es", "Spain"],
  ["pt_BR", "br", "Brazil"],
  ["en", "us", "United States"],
];

const READ: ReadonlySet<string> = new Set([
  ...GIVEN_NAMES,
  ...FAMILY_NAMES,
  ...COMMON_WORDS,
  ...NAMES_BY_COUNTRY,
]);

type Pattern = (first: string, last: string, number: number) => string;

const PATTERNS: readonly Pattern[] = [
  (first, last) => `${first}.${last}`,
  (first, last) => `${first}${last}`,
  (first, last) => `${first.slice(0, 1)}${last}`,
  (first, last) => `${first.slice(0, 1)}.${last}`,
  (first, last) => `${first}_${last}`,
  (first, last) => `${last}.${first}`,
  (first, last, number) => `${first}.${last}${number % 100}`,
  (first, _, number) => `${first}${1950 + (number % 60)}`,
  (_, last) => last,
];

const EACH = 9_000;
const SEED = 7;

type Names = NonNullable<NonNullable<LocaleDefinition["person"]>["first_name"]>;

/** faker has names by sex, some with weights. */
const listNames = (names: Names | null | undefined): readonly string[] => [
  ...new Set(
    Object.values(names ?? {})
      .flat()
      .map((name: string | { readonly value: string }) =>
        typeof name === "string" ? name : name.value,
      ),
  ),
];

type Chance = () => number;

const pickOne = <T>(chance: Chance, from: readonly T[]): T | undefined =>
  from[Math.floor(chance() * from.length)];

const drawLocals = (locale: Locale, country: string): readonly string[] => {
  const chance = createRandom(SEED);
  const { person } = allLocales[locale] as LocaleDefinition;
  const [firsts, lasts] = [listNames(person?.first_name), listNames(person?.last_name)];
  return Array.from({ length: EACH }, (_, at) => {
    const drawn = { first: pickOne(chance, firsts) ?? "", last: pickOne(chance, lasts) ?? "" };
    const reading = guessReading({ ...drawn }, `example.${country}`);
    const spell = (as: "first" | "last"): string =>
      foldName(drawn[as])
        .split(/[^\p{L}\p{M}]+/u)
        .map((word) => pickSpelling(chance, spellWord(word, as, reading)))
        .join("");
    const [first, last] = [spell("first"), spell("last")];
    if (first.length < 2 || last.length < 2 || READ.has(first) || READ.has(last)) return [];
    return [PATTERNS[at % PATTERNS.length]?.(first, last, Math.floor(chance() * 10_000)) ?? ""];
  }).flat();
};

/** The likelier spelling the more often. */
const pickSpelling = (chance: Chance, ways: ReturnType<typeof spellWord>): string => {
  let left = chance() * ways.reduce((sum, { weight }) => sum + weight, 0);
  const way = ways.find(({ weight }) => (left -= weight) <= 0);
  return way?.value.join("") ?? "";
};

export const LOCALS_BY_COUNTRY: readonly {
  readonly title: string;
  readonly locals: readonly string[];
}[] = COUNTRIES.map(([locale, country, title]) => ({ title, locals: drawLocals(locale, country) }));
