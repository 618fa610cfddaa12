import type { WriteStream } from "node:tty";
import { areNotesSilent } from "./notes.ts";
import { canErase, getColumns } from "./terminal.ts";

export type LineParts = readonly string[];

export type StatusLines = {
  readonly show: (lines: readonly LineParts[]) => void;
  readonly end: () => void;
};

/** A dumb terminal cannot erase a line, so it gets a new line, at most once in this time. */
const PLAIN_LINE_MS = 10_000;

export const createStatusLines = (
  screen: WriteStream,
  nowMs = () => performance.now(),
): StatusLines => {
  if (!screen.isTTY || areNotesSilent()) return { show: () => {}, end: () => {} };
  return canErase(screen) ? createErasingLines(screen) : createPlainLines(screen, nowMs);
};

const SEPARATOR = "  ";

const createErasingLines = (screen: WriteStream): StatusLines => {
  let rows = 0;
  const buildEraseSequence = () =>
    `\r\u001b[2K${"\u001b[1A\u001b[2K".repeat(Math.max(0, rows - 1))}`;
  return {
    show: (lines) => {
      const packed = lines.flatMap((parts) => packParts(parts, getColumns(screen)));
      screen.write(`${buildEraseSequence()}${packed.join("\n")}`);
      rows = packed.length;
    },
    end: () => {
      screen.write(buildEraseSequence());
      rows = 0;
    },
  };
};

const createPlainLines = (screen: WriteStream, nowMs: () => number): StatusLines => {
  let last = { text: "", atMs: Number.NEGATIVE_INFINITY };
  return {
    show: (lines) => {
      const text = lines.flat().join(SEPARATOR);
      if (text === last.text || nowMs() - last.atMs < PLAIN_LINE_MS) return;
      screen.write(`${text}\n`);
      last = { text, atMs: nowMs() };
    },
    end: () => {},
  };
};

/** Puts as many parts on a line as fit, and cuts a part that is wider than the screen. */
const packParts = (parts: LineParts, columns: number): readonly string[] => {
  const lines: string[] = [];
  for (const part of parts) {
    const line = lines.at(-1);
    const longer = `${line}${SEPARATOR}${part}`;
    if (line !== undefined && longer.length <= columns) lines[lines.length - 1] = longer;
    else lines.push(part.slice(0, columns));
  }
  return lines;
};
