import { createReadStream, existsSync, statSync } from "node:fs";
import { finished } from "node:stream/promises";
import { toWire } from "@mailproof/api/schema/verification";
import { parseAddressCell } from "@mailproof/core/intake/address-cell";
import { toText } from "@mailproof/core/intake/byte-text";
import { type ListRow, openList } from "@mailproof/core/intake/open-list";
import { isAddress } from "@mailproof/core/mail/address";
import { createEngine } from "@mailproof/core/verify/engine";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import * as v from "valibot";
import { type CommandInput, defineCommand, Flag, UsageError } from "./define-command.ts";
import { verifyFileByService } from "./file-command.ts";
import { assertWritable, openOutput, writeOutput } from "./output.ts";
import { type CheckProgress, createProgress } from "./progress.ts";
import { findService, SERVICE, SERVICE_USAGE, type Service } from "./service.ts";
import {
  type CsvList,
  createCsvFormat,
  createTextFormat,
  jsonFormat,
  NO_LIST,
  type ResultFormat,
} from "./show-results.ts";
import { choosePaint } from "./terminal.ts";
import { verifyAddressesByService } from "./verify-by-service.ts";
import { withMailPorts } from "./with-mail-ports.ts";

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
export const verifyCommand = defineCommand({
  name: "verify",
  usage: `${USAGE} ${SERVICE_USAGE}`,
  options: Options,
  flags: ["force", "json", "evidence"],
  takesWords: true,
  async run(input) {
    const { options, words } = input;
    if (words.length > 0 === (options.file !== undefined))
      throw new UsageError(
        `Pass addresses or --file, one of the two. Usage: mailproof verify ${USAGE}`,
      );
    const service = findService(input);
    if (service) return verifyByService(service, input);
    const list =
      options.file === undefined ? createAddressList(words) : await openListFile(options.file);
    const { out, force, file } = options;
    assertWritable(out, { force, list: file });
    return verifyAll(input, list, await openOutput(out, force));
  },
});

const verifyByService = (service: Service, { options, words }: CommandInput<typeof Options>) => {
  const { file, out, force, evidence } = options;
  if (file === undefined)
    return verifyAddressesByService(service, words, chooseFormat(options, NO_LIST), {
      out,
      force,
      evidence,
    });
  if (evidence)
    throw new UsageError("--evidence works for single addresses only when a service verifies.");
  return verifyFileByService(service, file, options);
};

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

const openListFile = async (file: string): Promise<ListSource> => {
  if (!existsSync(file)) throw new UsageError(`No such file: ${file}`);
  const progress = createProgress(process.stderr, statSync(file).size);
  const opened = await openList(progress.countBytes(createReadStream(file)), {});
  if (opened.kind === "fault") throw new UsageError(`${file}: ${opened.message}`);
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

const verifyAll = async (
  { environment, options }: CommandInput<typeof Options>,
  { list, rows, progress }: ListSource,
  out: NodeJS.WritableStream,
): Promise<number> => {
  const format = chooseFormat(options, list);
  const stop = stopOnInterrupt(out, progress);

  // Results come in the order of the rows, so the row of each is the first that still waits.
  const waiting: VerifyRow[] = [];
  async function* readEmails(): AsyncGenerator<string> {
    for await (const row of rows) {
      waiting.push(row);
      yield row.email;
    }
  }

  await writeOutput(out, format.first);
  const verifyOptions = { deepVerify: true, includeAi: true, includeEvidence: options.evidence };
  await withMailPorts(environment, { mayUseLab: true }, async (mailPorts) => {
    for await (const result of verifyMany(createEngine(mailPorts), readEmails(), verifyOptions)) {
      const row = waiting.shift();
      await writeOutput(out, format.line(toWire(result), row?.cells ?? []));
      progress.addDone();
    }
  });
  progress.end();
  process.off("SIGINT", stop);
  if (out !== process.stdout) await finished(out.end());
  return 0;
};

/** Ctrl-C: every printed result is complete; verifications in progress are aborted. */
const stopOnInterrupt = (out: NodeJS.WritableStream, progress: CheckProgress): (() => void) => {
  const stop = () => {
    progress.end();
    process.stderr.write("Interrupted. Finished results are complete.\n");
    if (out === process.stdout) process.exit(1);
    out.end(() => process.exit(1));
  };
  process.once("SIGINT", stop);
  return stop;
};

const chooseFormat = (
  { out, json }: v.InferOutput<typeof Options>,
  list: CsvList,
): ResultFormat => {
  if (json || out?.endsWith(".jsonl")) return jsonFormat;
  if (out !== undefined) return createCsvFormat(list);
  if (!process.stdout.isTTY) return jsonFormat;
  return createTextFormat(choosePaint(process.stdout));
};
