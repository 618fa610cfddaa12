// What a typed domain may be once a whole part of it is taken as too much.

/** A repeated part, "www." in front, or digits at either end is one slip, however many letters it has. */
export const WHOLE_PART = 1;

/** One way to read the typed domain. */
export type Reading = {
  readonly text: string;
  /** The part before its ending; null when it has no known ending. */
  readonly name: string | null;
  readonly ending: string;
  readonly letters: number;
  readonly cost: number;
};

/** The domain as typed, and without what is repeated or belongs to the text around the address. */
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

/** "35gmail.com": a count or an age that stood before the address. */
const DIGITS_BEFORE = /^\d+(?=[a-z])/;
/** "gmail.com73160": a postcode or a telephone number that followed it. */
const DIGITS_BEHIND = /^([a-z]+)[^a-z]*\d/;

/** "yahoo.co.co.uk": neither the first label nor the last one counts. */
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

/** One label, or two as in "com.br", or the name again; before a longer tail the first label is only a host name. */
const isEnding = (labels: readonly string[], name: string): boolean => {
  if (labels.length === 1) return true;
  const [middle = ""] = labels;
  return labels.length === 2 && (isSecondLevel(middle) || middle === name);
};

const SECOND_LEVEL: ReadonlySet<string> = new Set(["com", "co", "net", "org"]);

/** Whether registries have names below this label of theirs, as below "co.uk". */
export const isSecondLevel = (label: string): boolean => SECOND_LEVEL.has(label);

/** Which letters occur, one bit each; signs and digits share the six bits that are left. */
export const toLetterBits = (text: string): number => {
  let letters = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at) - 97;
    letters |= 1 << (letter >= 0 && letter < 26 ? letter : 26 + (text.charCodeAt(at) % 6));
  }
  return letters;
};
