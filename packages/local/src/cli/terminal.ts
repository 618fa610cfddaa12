import type { WriteStream } from "node:tty";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "reversed";

const CODES: Readonly<Record<Style, number>> = {
  bold: 1,
  dim: 2,
  reversed: 7,
  red: 31,
  green: 32,
  yellow: 33,
};

export type Paint = (text: string, ...styles: readonly Style[]) => string;

export const paintAnsi: Paint = (text, ...styles) =>
  `\u001b[${styles.map((style) => CODES[style]).join(";")}m${text}\u001b[0m`;

/** Leaves the text unpainted, for people who want no colours (no-color.org), and for terminals without colours. */
export const paintPlain: Paint = (text) => text;

/** `hasColors` obeys NO_COLOR, FORCE_COLOR and TERM. */
export const choosePaint = (screen: WriteStream): Paint =>
  screen.isTTY && screen.hasColors() ? paintAnsi : paintPlain;

/** Tells whether a line can be erased and written again. A dumb terminal shows escape sequences as text. */
export const canErase = (screen: WriteStream): boolean =>
  screen.isTTY && process.env["TERM"] !== "dumb";

const COLUMNS = 80;

/** Subtracts one column: a line that fills the last column would wrap, and could not be erased. */
export const getColumns = ({ columns }: WriteStream): number => (columns || COLUMNS) - 1;

/** Text from outside must not control the terminal that shows it. */
export const replaceControls = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�");

export const wrapText = (text: string, columns: number): readonly string[] => {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((one) => cutWord(one, columns))) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
};

const cutWord = (word: string, columns: number): readonly string[] =>
  Array.from({ length: Math.max(1, Math.ceil(word.length / columns)) }, (_, part) =>
    word.slice(part * columns, (part + 1) * columns),
  );

export const quoteForShell = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
