import { rmSync } from "node:fs";
import { finished } from "node:stream/promises";
import { type ErrorCode, MailproofError } from "@mailproof/client/errors";
import type { Job } from "@mailproof/client/types";
import { openOut, print } from "./out.ts";
import { lineOn } from "./progress.ts";
import type { Service } from "./service.ts";
import { typed } from "./terminal.ts";

export type Wanted = {
  readonly out: string | undefined;
  readonly json: boolean;
  readonly signal: AbortSignal;
};

/** Waits for a job, and prints what came of it. Exit code 1: it came to nothing. */
export const followJob = async (
  { client }: Service,
  id: string,
  { out, json, signal }: Wanted,
): Promise<number> => {
  const line = lineOn(process.stderr);
  const onProgress = ({ progress }: Job) => line.count(progress.processed, progress.total);
  const job = await client.waitForJob({ id }, { signal, onProgress }).finally(line.end);
  if (job.status !== "completed") {
    process.stderr.write(`${id} is ${job.status}. ${job.error ?? ""}\n`);
    return 1;
  }
  const pieces = json
    ? linesOf(client.results({ id }, { signal }))
    : (await client.download({ id }, { signal })).stream;
  await writeAll(out, pieces);
  process.stderr.write(`${sumOf(job)}\n`);
  return 0;
};

async function* linesOf(rows: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`;
}

/** Half of the results in a file would pass for all of them, so then there is no file. */
const writeAll = async (
  file: string | undefined,
  pieces: AsyncIterable<string | Uint8Array>,
): Promise<void> => {
  const out = await openOut(file);
  try {
    for await (const piece of pieces) await print(out, piece);
    if (file !== undefined) await finished(out.end());
  } catch (error) {
    if (file !== undefined) rmSync(file, { force: true });
    throw error;
  }
};

const sumOf = ({ progress }: Job): string => {
  const { total, valid, invalid, risky, unknown } = progress;
  const addresses = total === 1 ? "1 address" : `${total.toLocaleString("en")} addresses`;
  return `${addresses}: ${valid} valid, ${invalid} invalid, ${risky} risky, role or catch-all, ${unknown} unknown.`;
};

/** Then there is no such job, or none of the caller's. */
const DENIED: readonly ErrorCode[] = ["INVALID_REQUEST", "UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND"];

/** A job goes on without us: whoever was waiting for it is told how to wait again. */
export const orToldHowToGoOn = async (
  { url }: Service,
  id: string,
  { out, json, signal }: Wanted,
  following: Promise<number>,
): Promise<number> =>
  following.catch((error: unknown) => {
    if (error instanceof MailproofError && DENIED.includes(error.code)) throw error;
    const how = [
      `npx mailproof jobs ${id} --api ${url}`,
      ...(out === undefined ? [] : [`--out ${typed(out)}`]),
      ...(json ? ["--json"] : []),
    ];
    const said = error instanceof Error ? error.message : String(error);
    process.stderr.write(
      `${signal.aborted ? "Interrupted." : said}\n${id} goes on, and is paid for. To wait for it again:\n\n`,
    );
    process.stderr.write(`  ${how.join(" ")}\n`);
    return 1;
  });
