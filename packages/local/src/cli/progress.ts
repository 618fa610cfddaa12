import type { WriteStream } from "node:tty";
import { areNotesSilent } from "./notes.ts";
import { createStatusLines } from "./status-lines.ts";

const BAR_COLUMNS = 24;
const REDRAW_MS = 100;

export type CheckProgress = {
  /** Counts the bytes of the list as they are read, which shows the remaining part. */
  readonly countBytes: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  readonly addDone: () => void;
  readonly end: () => void;
};

export const createProgress = (screen: WriteStream, bytesTotal: number): CheckProgress => {
  const startedMs = performance.now();
  const lines = createStatusLines(screen);
  let bytes = 0;
  let done = 0;
  let drawnMs = 0;

  const formatParts = (): readonly string[] => {
    const part = bytesTotal === 0 ? 1 : Math.min(1, bytes / bytesTotal);
    const seconds = (performance.now() - startedMs) / 1_000;
    const left =
      part > 0 && part < 1 ? [`about ${formatDuration((seconds / part) * (1 - part))} left`] : [];
    const rate = `${formatCount(Math.round(done / Math.max(seconds, 0.001)))}/s`;
    return [formatBar(part, BAR_COLUMNS), `${formatCount(done)} done`, rate, ...left];
  };

  async function* countBytes(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      bytes += chunk.length;
      yield chunk;
    }
  }

  return {
    countBytes,
    addDone: () => {
      done++;
      if (!screen.isTTY || performance.now() - drawnMs < REDRAW_MS) return;
      drawnMs = performance.now();
      lines.show([formatParts()]);
    },
    end: () => {
      lines.end();
      if (screen.isTTY && !areNotesSilent()) screen.write(`${formatParts().slice(1).join("  ")}\n`);
    },
  };
};

export const formatBar = (part: number, columns: number): string =>
  "█".repeat(Math.round(part * columns)).padEnd(columns, "░");

export const formatCount = (number: number): string => number.toLocaleString("en");

export const formatDuration = (seconds: number): string => {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
};
