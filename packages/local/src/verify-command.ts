import { once } from "node:events";
import { createReadStream, createWriteStream, existsSync, statSync } from "node:fs";
import { finished } from "node:stream/promises";
import { isListFault, openList } from "@mailproof/core/jobs/list";
import { engineOver } from "@mailproof/core/verify/engine";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import * as v from "valibot";
import { type Asked, command, Flag, Misuse } from "./command.ts";
import { startLab } from "./lab/lab.ts";
import { openMailDoors, wantsLab } from "./mail-doors.ts";
import { type Progress, progressOn } from "./progress.ts";
import { asCsv, asJson, asText, type Show } from "./show-results.ts";
import { sqliteTable } from "./sqlite-table.ts";

const Options = v.strictObject({
  file: v.optional(v.string()),
  out: v.optional(v.string()),
  json: Flag,
  evidence: Flag,
});

/** The engine without a server and without state. Exit code 1: it was interrupted, and the results end there. */
export const verifyCommand = command({
  name: "verify",
  usage: "a@b.c … | --file list.csv   [--out results.csv] [--json] [--evidence]",
  options: Options,
  flags: ["json", "evidence"],
  takesWords: true,
  async run(asked) {
    const { options, words } = asked;
    if (words.length > 0 === (options.file !== undefined))
      throw new Misuse("Name addresses, or a file with --file; one of the two.");
    const list = options.file === undefined ? listOfWords(words) : await listIn(options.file);
    return verifyAll(asked, list, await openOut(options.out));
  },
});

/** A file that is there is never written over: it may be the list itself, or results that were paid for. */
const openOut = async (file: string | undefined): Promise<NodeJS.WritableStream> => {
  if (file === undefined) return process.stdout;
  const out = createWriteStream(file, { flags: "wx" });
  await once(out, "open").catch((error: NodeJS.ErrnoException) => {
    throw new Misuse(error.code === "EEXIST" ? `${file} is there already.` : error.message);
  });
  return out;
};

type Row = { readonly email: string; readonly cells: readonly string[] };
type List = {
  readonly columns: readonly string[] | null;
  readonly rows: AsyncIterable<Row>;
  readonly progress: Progress;
};

async function* each(words: readonly string[]): AsyncGenerator<Row> {
  for (const email of words) yield { email, cells: [email] };
}

const listOfWords = (words: readonly string[]): List => ({
  columns: null,
  rows: each(words),
  progress: { counted: (bytes) => bytes, oneDone: () => {}, end: () => {} },
});

const listIn = async (file: string): Promise<List> => {
  if (!existsSync(file)) throw new Misuse(`There is no file ${file}.`);
  const progress = progressOn(process.stderr, statSync(file).size);
  const opened = await openList(progress.counted(createReadStream(file)), {});
  if (isListFault(opened)) throw new Misuse(`${file}: ${opened.message}`);
  return { columns: opened.facts.columns, rows: oneByOne(opened.rows), progress };
};

async function* oneByOne(batches: AsyncIterable<readonly Row[]>): AsyncGenerator<Row> {
  for await (const batch of batches) yield* batch;
}

const verifyAll = async (
  { environment, options }: Asked<typeof Options>,
  { columns, rows, progress }: List,
  out: NodeJS.WritableStream,
): Promise<number> => {
  const lab = wantsLab(environment) ? await startLab() : null;
  const doors = openMailDoors(
    environment,
    sqliteTable(":memory:", () => new Date()),
    lab,
  );
  const show = showFor(options, columns);
  const stop = keepWhatIsFinished(out, progress);

  // Results come in the order of the rows, so the row of each is the first that still waits.
  const waiting: Row[] = [];
  async function* texts(): AsyncGenerator<string> {
    for await (const row of rows) {
      waiting.push(row);
      yield row.email;
    }
  }

  await print(out, show.first);
  const asks = { deepVerify: true, includeAi: true, includeEvidence: options.evidence };
  for await (const result of verifyMany(engineOver(doors), texts(), asks)) {
    const row = waiting.shift();
    await print(out, show.line(result, row?.cells ?? []));
    progress.oneDone();
  }
  progress.end();
  process.off("SIGINT", stop);
  if (out !== process.stdout) await finished(out.end());
  doors.close();
  await lab?.close();
  return 0;
};

/** Ctrl-C: every result that was printed is whole and stays; what was under way is given up. */
const keepWhatIsFinished = (out: NodeJS.WritableStream, progress: Progress): (() => void) => {
  const stop = () => {
    progress.end();
    process.stderr.write("Interrupted: the results end with the last line that is there.\n");
    if (out === process.stdout) process.exit(1);
    out.end(() => process.exit(1));
  };
  process.once("SIGINT", stop);
  // Whoever reads no more, as `head` does, ends the command in peace.
  process.stdout.on("error", (error: NodeJS.ErrnoException) =>
    process.exit(error.code === "EPIPE" ? 0 : 1),
  );
  return stop;
};

const showFor = (
  { out, json }: v.InferOutput<typeof Options>,
  columns: readonly string[] | null,
): Show => {
  if (json || out?.endsWith(".jsonl")) return asJson;
  if (out !== undefined) return asCsv(columns ?? ["email"]);
  return process.stdout.isTTY ? asText : asJson;
};

/** As fast as the other end reads. */
const print = async (out: NodeJS.WritableStream, text: string): Promise<void> => {
  if (text !== "" && !out.write(text)) await once(out, "drain");
};
