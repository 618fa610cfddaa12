import { combineWays, type Weighted } from "../weighted.ts";

/** The spellings of a letter, or of several letters with one sound. ^ and $ are the edges of a word. */
export type Alphabet = ReadonlyMap<string, readonly Weighted<string>[]>;

/** Reads rows such as `ц: "ts 80 c 20"`: each spelling with its weight. A single spelling needs no weight, and "-" means no letter. */
export const parseAlphabet = (rows: Readonly<Record<string, string>>): Alphabet =>
  new Map(Object.entries(rows).map(([letters, ways]) => [letters, parseWays(ways)]));

export const parseWays = (text: string): readonly Weighted<string>[] => {
  const words = text.split(" ");
  const ways = words.flatMap((word, at) =>
    at % 2 === 0 ? [{ value: word.replace("-", ""), weight: Number(words[at + 1] ?? "1") }] : [],
  );
  const sum = ways.reduce((total, { weight }) => total + weight, 0);
  return ways.map(({ value, weight }) => ({ value, weight: weight / sum }));
};

/** Reads `дмитрий y 2 …`, one name per line. */
export const parseNames = (text: string): Alphabet =>
  new Map(
    text
      .trim()
      .split("\n")
      .map((row) => {
        const [name = "", ...ways] = row.trim().split(" ");
        return [name, parseWays(ways.join(" "))];
      }),
  );

const KEY_MAX = 5;

/** Reads a word, the longest key of the alphabet first. Empty when the alphabet lacks a letter of the word. */
export const readWord = (word: string, alphabet: Alphabet): readonly Weighted<string>[] => {
  const text = `^${Array.from(word, (letter) => (alphabet.has(letter) ? letter : removeAccents(letter))).join("")}$`;
  const read: (readonly Weighted<string>[])[] = [];
  for (let at = 0; at < text.length; ) {
    const key = findKey(text, at, alphabet);
    if (key === undefined) return [];
    read.push(alphabet.get(key) ?? []);
    at += key === "" ? 1 : key.length;
  }
  return combineWays(read.filter((ways) => ways.length > 0)).map(({ value, weight }) => ({
    value: value.join(""),
    weight,
  }));
};

export const removeAccents = (text: string): string =>
  text.normalize("NFD").replaceAll(/\p{M}/gu, "").normalize("NFC");

/** Returns "" for an edge without its own key. */
const findKey = (text: string, at: number, alphabet: Alphabet): string | undefined => {
  for (let length = KEY_MAX; length > 0; length -= 1) {
    const key = text.slice(at, at + length);
    if (key.length === length && alphabet.has(key)) return key;
  }
  return text[at] === "^" || text[at] === "$" ? "" : undefined;
};

/** Greek in the spelling of its passports (ELOT 743), without accents. */
export const GREEK: Alphabet = parseAlphabet({
  ...parseRows(
    "α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f",
  ),
  // Two dots separate a letter from the letter before it.
  ...parseRows("χ ch ψ ps ω o ου ou γγ ng γξ nx γχ nch ^μπ b ϋ y ΰ y"),
  ...listGreekDiphthongs(),
});

/** αυ and ευ end in f before a voiceless letter and at the end of a word, otherwise in v. */
function listGreekDiphthongs(): Record<string, string> {
  const vowels = [
    ["αυ", "a"],
    ["ευ", "e"],
  ] as const;
  const voiceless = parseRows("θ th κ k ξ x π p σ s τ t φ f χ ch ψ ps $ -");
  return Object.fromEntries(
    vowels.flatMap(([letters, vowel]) => [
      [letters, `${vowel}v`],
      ...Object.entries(voiceless).map(([next, sound]) => [
        letters + next,
        `${vowel}f${sound.replace("-", "")}`,
      ]),
    ]),
  );
}

/** The Armenian and Georgian spellings of passports, without apostrophes. */
export const ARMENIAN: Alphabet = parseAlphabet({
  ...parseRows(
    "ա a բ b գ g դ d ե e ^ե ye զ z է e ը y թ t ժ zh ի i լ l խ kh ծ ts կ k հ h ձ dz ղ gh ճ ch մ m",
  ),
  ...parseRows(
    "յ y ն n շ sh ո o ^ո vo չ ch պ p ջ j ռ r ս s վ v տ t ր r ց ts ու u ^ու u ւ v եւ ev ^եւ yev",
  ),
  ...parseRows("փ p ք k օ o ֆ f"),
});

export const GEORGIAN: Alphabet = parseAlphabet(
  parseRows(
    "ა a ბ b გ g დ d ე e ვ v ზ z თ t ი i კ k ლ l მ m ნ n ო o პ p ჟ zh რ r ს s ტ t უ u ფ p ქ k " +
      "ღ gh ყ q შ sh ჩ ch ც ts ძ dz წ ts ჭ ch ხ kh ჯ j ჰ h",
  ),
);

/** Reads one spelling per letter: "α a β v". */
export function parseRows(text: string): Record<string, string> {
  const words = text.split(" ");
  return Object.fromEntries(
    words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1] ?? ""]] : [])),
  );
}
