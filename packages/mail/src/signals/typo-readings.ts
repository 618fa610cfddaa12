/** A repeated part, "www." in front, or digits at either end count as one slip, however many letters they have. */
export const WHOLE_PART = 1;

export type Reading = {
  readonly text: string;
  readonly name: string | null;
  readonly ending: string;
  readonly letters: number;
  readonly cost: number;
};

export const listReadings = (typed: string): readonly Reading[] => {
  const [name = "", ...endings] = typed.split(".");
  const others = new Set([
    getRepeatedHalf(typed) ?? typed,
    [getRepeatedHalf(name) ?? name, ...endings].join("."),
    typed.replace(/^www\./, ""),
    removeRepeatedLabel(typed),
    typed.replace(DIGITS_BEFORE, ""),
    removeDigitsBehind(typed),
  ]).difference(new Set([typed]));
  return [createReading(typed, 0), ...[...others].map((text) => createReading(text, WHOLE_PART))];
};

/** Matches "35gmail.com", where a count or an age preceded the domain. */
const DIGITS_BEFORE = /^\d+(?=[a-z])/;
/** Matches "gmail.com73160", where a postcode or a telephone number followed the domain. */
const DIGITS_BEHIND = /^([a-z]+)[^a-z]*\d/;

/** "yahoo.co.co.uk": drops a repeated label between the first and the last one. */
const removeRepeatedLabel = (typed: string): string => {
  const labels = typed.split(".");
  const at = labels.findIndex(
    (label, index) => index > 0 && index < labels.length - 2 && label === labels[index + 1],
  );
  return at < 0 ? typed : labels.toSpliced(at, 1).join(".");
};

export const removeDigitsBehind = (typed: string): string => {
  const at = typed.lastIndexOf(".") + 1;
  const letters = at > 0 ? DIGITS_BEHIND.exec(typed.slice(at))?.[1] : undefined;
  return letters === undefined ? typed : typed.slice(0, at) + letters;
};

const createReading = (text: string, cost: number): Reading => {
  const [name = "", ...ending] = text.split(".");
  return {
    text,
    name: isEnding(ending, name) ? name : null,
    ending: ending.join("."),
    letters: toLetterBits(text),
    cost,
  };
};

/** "gmailgmail" and "gmail.com.gmail.com" repeat one part. */
export const getRepeatedHalf = (text: string): string | null => {
  const middle = text.length >> 1;
  const second = text.slice(text.length % 2 === 0 || text[middle] !== "." ? middle : middle + 1);
  const first = text.slice(0, middle);
  return first !== "" && first === second ? first : null;
};

/** An ending is one label, or two as in "com.br", or the repeated name; before a longer tail the first label is only a host name. */
const isEnding = (labels: readonly string[], name: string): boolean => {
  if (labels.length === 1) return true;
  const [middle = ""] = labels;
  return labels.length === 2 && (isSecondLevel(middle) || middle === name);
};

const SECOND_LEVEL: ReadonlySet<string> = new Set(["com", "co", "net", "org"]);

/** Tells whether registries sell names below this label, as below "co" of "co.uk". */
export const isSecondLevel = (label: string): boolean => SECOND_LEVEL.has(label);

export const toLetterBits = (text: string): number => {
  let letters = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at) - 97;
    letters |= 1 << (letter >= 0 && letter < 26 ? letter : 26 + (text.charCodeAt(at) % 6));
  }
  return letters;
};
