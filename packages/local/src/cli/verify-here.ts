import { createReadStream, statSync } from "node:fs";
import { finished } from "node:stream/promises";
import { toWire } from "@mailproof/api/schema/verification";
import { toText } from "@mailproof/core/intake/byte-text";
import { type ListRow, openList } from "@mailproof/core/intake/open-list";
import { createEngine } from "@mailproof/core/verify/engine";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import { isAddress } from "@mailproof/mail/address";
import { parseAddressCell } from "@mailproof/mail/address-cell";
import { PROGRAM } from "../installation.ts";
import { countList, printQuote } from "./dry-run.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { createListError, type ListFile, openListFile, STANDARD_INPUT } from "./list-file.ts";
import { writeNote } from "./notes.ts";
import { assertWritable, openOutput, writeOutput } from "./output.ts";
import { chooseFormat } from "./print-results.ts";
import { type CheckProgress, createProgress, formatCount } from "./progress.ts";
import { createResultSummary } from "./result-summary.ts";
import { type CsvList, type ListResult, NO_LIST } from "./result-table.ts";
import { watchInterrupt } from "./service.ts";
import { countResults } from "./show-results.ts";
import type { VerifyInput } from "./verify-options.ts";
import { withMailPorts } from "./with-mail-ports.ts";

type VerifyRow = { readonly email: string; readonly cells: readonly string[] };
type ListSource = {
  readonly list: CsvList;
  readonly rows: AsyncIterable<VerifyRow>;
  readonly progress: CheckProgress;
};

async function* toRows(words: readonly string[]): AsyncGenerator<VerifyRow> {
  for (const email of words) yield { email, cells: [] };
}

const createAddressList = (words: readonly string[]): ListSource => ({
  list: NO_LIST,
  rows: toRows(words),
  progress: { countBytes: (bytes) => bytes, addDone: () => {}, end: () => {} },
});

export const verifyAddressesHere = (
  input: VerifyInput,
  addresses: readonly string[],
): Promise<number> => verifyHere(input, createAddressList(addresses), undefined);

export const verifyListHere = async (input: VerifyInput, file: string): Promise<number> => {
  const { column, sheet, "dry-run": dryRun, json } = input.options;
  const list = await openListFile(file, { sheets: sheet, columns: column });
  try {
    if (dryRun) return await printQuote(null, "verify", await countList(list, column), json);
    return await verifyHere(input, await openListSource(list, column), list);
  } finally {
    list.remove();
  }
};

const openListSource = async (
  { name, path }: ListFile,
  emailColumns: readonly string[] | undefined,
): Promise<ListSource> => {
  const progress = createProgress(process.stderr, statSync(path).size);
  const opened = await openList(progress.countBytes(createReadStream(path)), { emailColumns });
  if (opened.kind === "fault") throw createListError(name, opened);
  return { list: opened.format, rows: flattenBatches(opened.rows), progress };
};

async function* flattenBatches(
  batches: AsyncIterable<readonly ListRow[]>,
): AsyncGenerator<VerifyRow> {
  for await (const batch of batches)
    for (const { email, cells } of batch) {
      const read = parseAddressCell(email);
      yield { email: isAddress(read) ? read.display : email, cells: cells.map(toText) };
    }
}

const verifyHere = async (
  { environment, options, words }: VerifyInput,
  { list, rows, progress }: ListSource,
  file: ListFile | undefined,
): Promise<number> => {
  const { out: outName, force, evidence, json, "dry-run": dryRun, "fail-on": failOn } = options;
  if (dryRun)
    return printQuote(null, "verify", { operations: words.length, addresses: words.length }, json);
  const format = chooseFormat(options, list);
  const original = file === undefined || file.name === STANDARD_INPUT ? undefined : file.name;
  assertWritable(outName, { force, list: original });
  const out = await openOutput(outName, force);
  const endOutput = async () => {
    progress.end();
    if (out !== process.stdout) await finished(out.end());
  };
  const { signal, end } = watchInterrupt();
  const summary = createResultSummary();
  let temporary = 0;
  const verifyOptions = { deepVerify: true, includeAi: true, includeEvidence: evidence };

  await withMailPorts(environment, { mayUseLab: true }, async (mailPorts) => {
    // Results come in the order of the rows, so each result belongs to the first waiting row.
    const waiting: VerifyRow[] = [];
    async function* readEmails(): AsyncGenerator<string> {
      for await (const row of rows) {
        waiting.push(row);
        yield row.email;
      }
    }
    async function* verifyEach(): AsyncGenerator<ListResult> {
      const world = { engine: createEngine(mailPorts), sleep: mailPorts.sleep };
      const results = verifyMany(world, readEmails(), verifyOptions);
      for await (const result of stopAtSignal(results, signal)) {
        if (result.retryCause) temporary++;
        yield { result: toWire(result), cells: waiting.shift()?.cells ?? [] };
        progress.addDone();
      }
    }
    for await (const piece of format(countResults(verifyEach(), summary)))
      await writeOutput(out, piece);
    if (!signal.aborted) return;
    // Running verifications still use resources that must not be closed first.
    await endOutput();
    process.stderr.write("Interrupted. Finished results are complete.\n");
    process.exit(EXIT_CODES.interrupted.code);
  });
  end();
  await endOutput();
  if (file) writeNote(`${summary.format()}${formatTemporary(temporary)}`);
  return summary.getExitCode(failOn);
};

/** This command makes one attempt; a service's job makes further attempts, for hours if needed. */
const formatTemporary = (count: number): string =>
  count === 0
    ? ""
    : `${formatCount(count)} ${count === 1 ? "is" : "are"} temporary: "${PROGRAM} file" tries ${count === 1 ? "it" : "them"} again.\n`;

async function* stopAtSignal<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  let stop = () => {};
  signal.addEventListener("abort", () => stop());
  const iterator = items[Symbol.asyncIterator]();
  while (!signal.aborted) {
    // One promise for each item: a promise that outlives them would remember every race.
    const { promise, resolve } = Promise.withResolvers<"stopped">();
    stop = () => resolve("stopped");
    const next = await Promise.race([iterator.next(), promise]);
    if (next === "stopped" || next.done) return;
    yield next.value;
  }
}
