import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { receiveMessage } from "../receive-message.ts";
import type { ServerFigures } from "./server-process.ts";

// Downloads an export from a server in its own process, for it begins cold and its memory is its own.

export type ExportFigures = {
  readonly firstByteMs: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly grownMegabytes: number;
  readonly stallMs: number;
  /** The server's. */
  readonly processorSeconds: number;
};

export type ExportFormat = {
  readonly lines: number;
  /** The response whose body is the file. */
  readonly request: (url: string, headers: Record<string, string>) => Promise<Response>;
};

export const ROWS = 500_000;

/** A header precedes the rows. */
export const CSV: ExportFormat = {
  lines: ROWS + 1,
  request: (url, headers) => fetch(url, { headers }),
};

export const measureExport = async (
  folder: string,
  { job, key }: { readonly job: string; readonly key: string },
  format: ExportFormat,
): Promise<ExportFigures> => {
  const child = fork(fileURLToPath(new URL("server-process.ts", import.meta.url)), [folder]);
  const begun = await receiveMessage<ServerFigures>(child);

  const startedAt = performance.now();
  const answer = await format.request(`${begun.baseUrl}/v1/jobs/${job}/download`, {
    "x-api-key": key,
  });
  if (answer.status !== 200 || !answer.body) throw new Error(await answer.text());
  let firstByteMs: number | undefined;
  let [bytes, lines] = [0, 0];
  for await (const piece of answer.body) {
    firstByteMs ??= performance.now() - startedAt;
    bytes += piece.length;
    lines += countLines(piece);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  if (lines !== format.lines) throw new Error(`Of ${format.lines} lines ${lines} came.`);

  child.send("stop");
  const { peakMegabytes, stallMs, processorSeconds } = await receiveMessage<ServerFigures>(child);
  await once(child, "exit");
  const grownMegabytes = peakMegabytes - begun.peakMegabytes;
  return {
    firstByteMs: firstByteMs ?? 0,
    seconds,
    bytes,
    grownMegabytes,
    stallMs,
    processorSeconds: processorSeconds - begun.processorSeconds,
  };
};

const LINE_FEED = 10;

const countLines = (piece: Uint8Array): number => {
  let lines = 0;
  for (let at = piece.indexOf(LINE_FEED); at >= 0; at = piece.indexOf(LINE_FEED, at + 1)) lines++;
  return lines;
};
