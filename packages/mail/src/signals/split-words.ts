export const splitWords = (text: string): readonly string[] =>
  text.split(/\s+/).filter((word) => word !== "");
