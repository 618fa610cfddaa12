import { readFileSync } from "node:fs";

// A text, a comment, a template up to its first ${, or a pattern where one may begin. Their contents are not code.
const NOT_CODE =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?<=[=(,:[!&|?{};\n]\s*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g;

/** A source without its texts and comments: "Date.now" in a sentence is not a clock. */
export const getCode = (file: string): string =>
  readFileSync(file, "utf8").replaceAll(NOT_CODE, (found) => (found.startsWith("/") ? " " : '""'));
