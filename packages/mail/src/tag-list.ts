export type ListTag = { readonly name: string; readonly value: string };

const TAG = /^([a-z]\w*)[\t\n\r ]*=([\s\S]*)$/i;

/**
 * Parses the list of RFC 6376 §3.2: name=value, separated by semicolons, with white space around each. DKIM keys, DMARC, BIMI, MTA-STS and
 * TLS-RPT use this form. The caller decides which names count, and in what case.
 */
export const parseTagList = (text: string) => {
  const parts = text
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const found = parts.map((part) => TAG.exec(part));
  return {
    tags: found.flatMap((tag) =>
      tag ? [{ name: tag[1] ?? "", value: tag[2]?.trim() ?? "" }] : [],
    ),
    strays: parts.filter((_, index) => !found[index]),
  };
};

/** Lists names that occur more than once, which breaks the whole list (RFC 6376 §3.2). */
export const listRepeated = (names: readonly string[]): readonly string[] => {
  const seen = new Set<string>();
  const again = names.filter((name) => seen.size === seen.add(name).size);
  return [...new Set(again)];
};

/** Returns the texts of a version, or else the texts that were meant as that version: a broken record is not a missing one. */
export const findMeant = (
  texts: readonly string[],
  version: RegExp,
  name: string,
): readonly string[] => {
  const found = texts.filter((text) => version.test(text));
  const meant = new RegExp(`^\\W*v\\s*=\\W*${name}\\b`, "i");
  return found.length > 0 ? found : texts.filter((text) => meant.test(text));
};
