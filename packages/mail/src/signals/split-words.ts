/** A list of words, as it is written in a file. */
export const splitWords = (text: string): readonly string[] =>
  text.split(/\s+/).filter((word) => word !== "");
