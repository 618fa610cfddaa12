/**
 * How to write letters that a local part cannot have. Where there are two habits, both are used: a German Müller is
 * mueller or muller, and only the server knows which.
 */
export type SpellingStyle = "plain" | "digraphs";

/** The letters that removing accents does not change. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ħ: "h",
  ı: "i",
  ŧ: "t",
  ŋ: "ng",
  ə: "a",
  ɓ: "b",
  ɖ: "d",
  ɗ: "d",
  ƙ: "k",
  ƴ: "y",
  ɔ: "o",
  ɛ: "e",
  ǝ: "e",
};

const DIGRAPHS: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", å: "aa", ø: "oe" };

/** The usual letters for Cyrillic and Greek. Other alphabets and scripts have more than one way, and no usual one. */
const OTHER_ALPHABETS: Readonly<Record<string, string>> = {
  ...parseRows(
    "а a б b в v г g д d е e ё e ж zh з z и i й y к k л l м m н n о o п p р r с s т t у u ф f х kh",
  ),
  ...parseRows(
    "ц ts ч ch ш sh щ shch ъ - ы y ь - э e ю yu я ya і i ї i є ie ґ g ј j љ lj њ nj ћ c ђ dj џ dz",
  ),
  ...parseRows(
    "α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f",
  ),
  ...parseRows("χ ch ψ ps ω o"),
  // Macedonian; Kazakh and its neighbours.
  ...parseRows("ѓ gj ќ kj ѕ dz ә a ғ g қ k ң n ө o ұ u ү u һ h җ j"),
};

/** Greek letters that together are another sound. An accent on the first, or two dots on the second, separates them. */
const GREEK_PAIRS: readonly (readonly [RegExp, string])[] = [
  [/ο[υύ]/g, "ou"],
  [/(?<=[αε])[υύ](?=[θκξπσςτφχψ]|$)/gm, "f"],
  [/(?<=[αε])[υύ]/g, "v"],
  [/γ(?=[γξχ])/g, "n"],
  [/(?<!\p{L})μπ/gu, "b"],
];

function parseRows(text: string): Record<string, string> {
  const words = text.split(" ");
  return Object.fromEntries(
    Array.from({ length: words.length / 2 }, (_, at) => [
      words[2 * at] ?? "",
      (words[2 * at + 1] ?? "").replace("-", ""),
    ]),
  );
}

/** Lower case, in a to z where possible; other letters stay as they are. */
export const transliterate = (text: string, style: SpellingStyle): string => {
  const lower = text.normalize("NFKC").toLowerCase().normalize("NFC");
  const paired = GREEK_PAIRS.reduce((so, [pair, sound]) => so.replaceAll(pair, sound), lower);
  const spelled = Array.from(paired, (letter) => {
    const digraph = style === "digraphs" ? DIGRAPHS[letter] : undefined;
    return digraph ?? findSpelling(letter) ?? findSpelling(removeAccents(letter)) ?? letter;
  });
  return removeAccents(spelled.join(""));
};

const findSpelling = (letter: string): string | undefined =>
  PLAIN[letter] ?? OTHER_ALPHABETS[letter];

const removeAccents = (text: string): string => text.normalize("NFD").replaceAll(/\p{M}/gu, "");
