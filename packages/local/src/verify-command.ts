import { createReadStream, existsSync, statSync } from "node:fs";
import { finished } from "node:stream/promises";
import { readAddressCell } from "@mailproof/core/jobs/address-cell";
import { toText } from "@mailproof/core/jobs/byte-text";
import { isListFault, type ListRow, openList } from "@mailproof/core/jobs/list";
import { isAddress } from "@mailproof/core/mail/address";
import { engineOver } from "@mailproof/core/verify/engine";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import * as v from "valibot";
import { type Asked, command, Flag, Misuse } from "./command.ts";
import { verifyFileByService } from "./file-command.ts";
import { startLab } from "./lab/lab.ts";
import { openMailDoors, wantsLab } from "./mail-doors.ts";
import { assertWritable, openOut, print } from "./out.ts";
import { type Progress, progressOn } from "./progress.ts";
import { SERVICE, SERVICE_USAGE, type Service, serviceIn } from "./service.ts";
import { asCsv, asJson, asText, type CsvList, NO_LIST, type Show } from "./show-results.ts";
import { sqliteTable } from "./sqlite-table.ts";
import { paintFor } from "./terminal.ts";
import { verifyWordsByService } from "./verify-by-service.ts";

const Options = v.strictObject({
  file: v.optional(v.string()),
  out: v.optional(v.string()),
  force: Flag,
  json: Flag,
  evidence: Flag,
  ...SERVICE,
});

const USAGE = "ADDRESS … | --file LIST.csv [--out FILE] [--force] [--json] [--evidence]";

/** The engine without a server and without state; or a service, where one is named. Exit code 1: it was interrupted, and the results end there. */
export const verifyCommand = command({
  name: "verify",
  usage: `${USAGE} ${SERVICE_USAGE}`,
  options: Options,
  flags: ["force", "json", "evidence"],
  takesWords: true,
  async run(asked) {
    const { options, words } = asked;
    if (words.length > 0 === (options.file !== undefined))
      throw new Misuse(
        `Pass addresses or --file, one of the two. Usage: mailproof verify ${USAGE}`,
      );
    const service = serviceIn(asked);
    if (service) return verifyBy(service, asked);
    const list = options.file === undefined ? listOfWords(words) : await listIn(options.file);
    const { out, force, file } = options;
    assertWritable(out, { force, list: file });
    return verifyAll(asked, list, await openOut(out, force));
  },
});

const verifyBy = (service: Service, { options, words }: Asked<typeof Options>) => {
  const { file, out, force, evidence } = options;
  if (file === undefined)
    return verifyWordsByService(service, words, showFor(options, NO_LIST), {
      out,
      force,
      evidence,
    });
  if (evidence)
    throw new Misuse("--evidence works for single addresses only when a service verifies.");
  return verifyFileByService(service, file, options);
};

type Row = { readonly email: string; readonly cells: readonly string[] };
type List = {
  readonly list: CsvList;
  readonly rows: AsyncIterable<Row>;
  readonly progress: Progress;
};

async function* each(words: readonly string[]): AsyncGenerator<Row> {
  for (const email of words) yield { email, cells: [] };
}

const listOfWords = (words: readonly string[]): List => ({
  list: NO_LIST,
  rows: each(words),
  progress: { counted: (bytes) => bytes, oneDone: () => {}, end: () => {} },
});

const listIn = async (file: string): Promise<List> => {
  if (!existsSync(file)) throw new Misuse(`No such file: ${file}`);
  const progress = progressOn(process.stderr, statSync(file).size);
  const opened = await openList(progress.counted(createReadStream(file)), {});
  if (isListFault(opened)) throw new Misuse(`${file}: ${opened.message}`);
  return { list: opened.facts, rows: oneByOne(opened.rows), progress };
};

async function* oneByOne(batches: AsyncIterable<readonly ListRow[]>): AsyncGenerator<Row> {
  for await (const batch of batches)
    for (const { email, cells } of batch) {
      const read = readAddressCell(email);
      yield { email: isAddress(read) ? read.display : email, cells: cells.map(toText) };
    }
}

const verifyAll = async (
  { environment, options }: Asked<typeof Options>,
  { list, rows, progress }: List,
  out: NodeJS.WritableStream,
): Promise<number> => {
  const lab = wantsLab(environment) ? await startLab() : null;
  const doors = openMailDoors(
    environment,
    sqliteTable(":memory:", () => new Date()),
    lab,
  );
  const show = showFor(options, list);
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
    process.stderr.write("Interrupted. The finished results were kept.\n");
    if (out === process.stdout) process.exit(1);
    out.end(() => process.exit(1));
  };
  process.once("SIGINT", stop);
  return stop;
};

const showFor = ({ out, json }: v.InferOutput<typeof Options>, list: CsvList): Show => {
  if (json || out?.endsWith(".jsonl")) return asJson;
  if (out !== undefined) return asCsv(list);
  if (!process.stdout.isTTY) return asJson;
  return asText(paintFor(process.stdout));
};
