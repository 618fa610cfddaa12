import type { WriteStream } from "node:tty";
import { RETRY_SCHEDULES } from "@mailproof/core/verify/retry";

const WIDTH = 24;
const COLUMNS = 80;
const REDRAW_MS = 100;

/** A bar, how many are done and how fast, and how long it will take, over what is there. */
const draw = (screen: WriteStream, part: number, done: number, seconds: number): void => {
  const rate = done / Math.max(seconds, 0.001);
  const left = part > 0 && part < 1 ? `  about ${inWords((seconds / part) * (1 - part))} left` : "";
  const told = `${done.toLocaleString("en")} done  ${Math.round(rate).toLocaleString("en")}/s${left}`;
  const width = Math.max(0, Math.min(WIDTH, roomOn(screen) - told.length - 1));
  over(screen, `${"█".repeat(Math.round(part * width)).padEnd(width, "░")} ${told}`.trimStart());
};

/** A line that goes on in the next one could not be taken away. */
const roomOn = ({ columns }: WriteStream): number => (columns || COLUMNS) - 1;

const over = (screen: WriteStream, text: string): void =>
  void screen.write(`\r\u001b[2K${text.slice(0, roomOn(screen))}`);

export type Progress = {
  /** The bytes of the list as they are read; they tell how much is left. */
  readonly counted: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  readonly oneDone: () => void;
  readonly end: () => void;
};

/** A bar with rate and time left, on a terminal; nothing at all anywhere else. */
export const progressOn = (screen: WriteStream, bytesTotal: number): Progress => {
  const startedMs = performance.now();
  let bytes = 0;
  let done = 0;
  let drawnMs = 0;

  const drawNow = (): void => {
    const part = bytesTotal === 0 ? 1 : Math.min(1, bytes / bytesTotal);
    draw(screen, part, done, (performance.now() - startedMs) / 1000);
  };

  async function* counted(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      bytes += chunk.length;
      yield chunk;
    }
  }

  return {
    counted,
    oneDone: () => {
      done++;
      if (!screen.isTTY || performance.now() - drawnMs < REDRAW_MS) return;
      drawnMs = performance.now();
      drawNow();
    },
    end: () => {
      if (!screen.isTTY) return;
      drawNow();
      screen.write("\n");
    },
  };
};

export type Lines = {
  /** What is being done, in the place of what was said before. */
  readonly say: (text: string) => void;
  readonly count: (done: number, total: number) => void;
  /** Takes the line away. */
  readonly end: () => void;
};

/** With nothing new for so long, what is left is waiting, and no rate tells how long. */
const STILL_MS = 15_000;

const comesAgain = RETRY_SCHEDULES.greylisting.afterMinutes.join(" and ");

/** One line that tells how far somebody else's work is, on a terminal; nothing at all anywhere else. */
export const lineOn = (screen: WriteStream, nowMs = () => performance.now()): Lines => {
  if (!screen.isTTY) return { say: () => {}, count: () => {}, end: () => {} };
  let startedMs: number | undefined;
  let last = { done: 0, atMs: 0 };
  const say = (text: string) => over(screen, text);
  return {
    say,
    count: (done, total) => {
      startedMs ??= nowMs();
      if (done !== last.done || last.atMs === 0) last = { done, atMs: nowMs() };
      if (done > 0 && done < total && nowMs() - last.atMs > STILL_MS)
        return say(
          `${done.toLocaleString("en")} done; servers that say "later" are asked again after ${comesAgain} min`,
        );
      draw(screen, total === 0 ? 1 : done / total, done, (nowMs() - startedMs) / 1000);
    },
    end: () => void screen.write("\r\u001b[2K"),
  };
};

const inWords = (seconds: number): string => {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
};
