import type { Weighted } from "../weighted.ts";
import { parseRows } from "./alphabets.ts";

/** The Hunterian letters of Indian passports and maps, without marks for long vowels. */
const CONSONANTS = parseRows(
  // In NFC a dot below follows its letter.
  (
    "क k ख kh ग g घ gh ङ n च ch छ chh ज j झ jh ञ n ट t ठ th ड d ढ dh ण n त t थ th द d ध dh न n " +
    "प p फ ph ब b भ bh म m य y र r ल l व v श sh ष sh स s ह h ळ l " +
    "क़ q ख़ kh ग़ gh ज़ z ड़ d ढ़ dh फ़ f"
  ).normalize("NFC"),
);
const VOWELS = parseRows("अ a आ a इ i ई i उ u ऊ u ऋ ri ए e ऐ ai ओ o औ au ऑ o");
const SIGNS = parseRows("ा a ि i ी i ु u ू u ृ ri े e ै ai ो o ौ au ॉ o");
const NASALS = /[ँं]/;
const VIRAMA = "्";

/** ज्ञ sounds like gy, and सिंह has its own spelling. */
const SPECIAL: Readonly<Record<string, string>> = { सिंह: "singh" };
const SPECIAL_CLUSTERS: readonly (readonly [string, string])[] = [["ज्ञ", "ग्य"]];

type Unit = { readonly consonants: string; readonly vowel: string; readonly isInherent: boolean };

/**
 * A consonant without a sign contains an a, which is silent at the end of a word, and mostly silent between two syllables with
 * vowels: राजकुमार is rajkumar, and कमला is kamla or kamala.
 */
export const spellDevanagari = (word: string): readonly Weighted<string>[] => {
  const special = SPECIAL[word];
  if (special !== undefined) return [{ value: special, weight: 1 }];
  const units = readUnits(word);
  if (units === null) return [];
  const short = writeUnits(dropMiddle(dropLast(units)));
  const long = writeUnits(dropLast(units));
  return short === long
    ? spellW(short, 1)
    : [...spellW(short, MIDDLE_SILENT), ...spellW(long, 1 - MIDDLE_SILENT)];
};

const MIDDLE_SILENT = 0.7;
/** Some people write व within a word before an a as v, others as w: तिवारी is tivari or tiwari. */
const V_OR_W = /(?<=.)v(?=a)/g;

const spellW = (text: string, weight: number): readonly Weighted<string>[] => {
  const withW = text.replaceAll(V_OR_W, "w");
  return withW === text
    ? [{ value: text, weight }]
    : [
        { value: text, weight: weight / 2 },
        { value: withW, weight: weight / 2 },
      ];
};

/** Splits a word into syllables: consonants, joined by a virama, and the vowel after them. Null for an unsupported sign. */
const readUnits = (word: string): readonly Unit[] | null => {
  const text = SPECIAL_CLUSTERS.reduce(
    (so, [cluster, as]) => so.replaceAll(cluster, as),
    word.normalize("NFC").replaceAll(/[\u200c\u200d]/g, ""),
  );
  const units: Unit[] = [];
  let consonants = "";
  const letters = text.match(/\p{L}़?|\p{M}/gu) ?? [];
  for (const [at, letter] of letters.entries()) {
    const [consonant, vowel, sign] = [CONSONANTS[letter], VOWELS[letter], SIGNS[letter]];
    const next = letters[at + 1] ?? "";
    if (consonant !== undefined) {
      consonants += consonant;
      if (next === VIRAMA || SIGNS[next] !== undefined) continue;
      units.push({ consonants, vowel: "a", isInherent: true });
      consonants = "";
    } else if (vowel !== undefined || sign !== undefined) {
      units.push({ consonants, vowel: vowel ?? sign ?? "", isInherent: false });
      consonants = "";
    } else if (NASALS.test(letter)) {
      const nasal = /^[पफबभम]/.test(next) ? "m" : "n";
      const last = units.pop();
      if (last) units.push({ ...last, vowel: last.vowel + nasal, isInherent: false });
    } else if (letter !== VIRAMA && letter !== "ः") return null;
  }
  return consonants === "" ? units : [...units, { consonants, vowel: "", isInherent: false }];
};

/** A last a stays after several consonants: कृष्ण is krishna. */
const dropLast = (units: readonly Unit[]): readonly Unit[] =>
  units.map((unit, at) =>
    at > 0 && at === units.length - 1 && isDroppable(unit) ? { ...unit, vowel: "" } : unit,
  );

/** Drops, from the right, each a between two syllables with vowels. */
const dropMiddle = (units: readonly Unit[]): readonly Unit[] => {
  const so = [...units];
  for (let at = so.length - 2; at > 0; at -= 1) {
    const [before, unit, after] = [so[at - 1], so[at], so[at + 1]];
    if (!before || !unit || !after) continue;
    const isBetween = before.vowel !== "" && after.vowel !== "" && !isCluster(after);
    if (isBetween && isDroppable(unit)) so[at] = { ...unit, vowel: "" };
  }
  return so;
};

const isDroppable = (unit: Unit): boolean => unit.isInherent && !isCluster(unit);

/** An h after a consonant is aspiration, and sh is one sound. */
const isCluster = ({ consonants }: Unit): boolean =>
  consonants.replaceAll(/(?<=[bcdgjkpst])h/g, "").length > 1;

const writeUnits = (units: readonly Unit[]): string =>
  units.map(({ consonants, vowel }) => consonants + vowel).join("");
