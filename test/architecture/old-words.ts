import { readFileSync } from "node:fs";
import { OLD_WORDS } from "./words.ts";

/** A name is read word by word: "createApp" is "create app". */
const splitNames = (text: string): string =>
  text
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase();

/** Of a source: its names without comments and strings. Of a page: nothing. */
const getNames = (file: string, text: string): string =>
  file.endsWith(".md")
    ? ""
    : text
        .replaceAll(/\/\*[\s\S]*?\*\/|(?<![:"'`\w])\/\/[^\n]*/g, (comment) =>
          comment.replaceAll(/[^\n]/g, " "),
        )
        .replaceAll(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'/g, (string) =>
          string.replaceAll(/[^\n]/g, " "),
        );

/** Each line with an old word: `file:line: word -> what to say: the line`. */
export const findOldWords = (file: string): string[] => {
  const text = readFileSync(file, "utf8");
  const lines = text.split("\n");
  const names = getNames(file, text).split("\n");
  return lines.flatMap((line, at) => {
    const [inLine, inNames] = [splitNames(line), splitNames(names[at] ?? "")];
    return OLD_WORDS.flatMap(({ word, say, where, except }) => {
      const searched = where === "names" ? inNames : inLine;
      const plain = except ? searched.replaceAll(new RegExp(except, "gi"), "") : searched;
      return word.test(plain)
        ? [`${file}:${at + 1}: ${word.source} -> ${say}: ${line.trim()}`]
        : [];
    });
  });
};
