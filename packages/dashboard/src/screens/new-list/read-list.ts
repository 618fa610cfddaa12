import { toText } from "@mailproof/core/intake/byte-text";
import { type ListFormat, type ListOptions, openList } from "@mailproof/core/intake/open-list";
import { createTextSet } from "@mailproof/core/intake/text-set";
import { createSettledCounter } from "@mailproof/core/intake/vendors";
import { readStream } from "@mailproof/core/lib/read-stream";
import { isAddress } from "@mailproof/mail/address";
import { parseAddressCell } from "@mailproof/mail/address-cell";

/** The service's view of a list: the same code reads the list on the server and in the browser. */
export type ReadList = {
  readonly kind: "read";
  readonly format: ListFormat;
  readonly firstRows: readonly (readonly string[])[];
  readonly rows: number;
  /** Distinct addresses: each is charged once. */
  readonly unique: number;
  /** Those of them that another service has settled. */
  readonly settled: number;
  readonly duplicates: number;
  readonly withoutAddress: number;
};

export type ListFault = {
  readonly kind: "fault";
  readonly fault: string;
  readonly message: string;
};

const ROWS_SHOWN = 20;
const ADDRESS_BYTES_MIN = 4;
const STILL_MS = 30;

export type Reading = {
  readonly signal: AbortSignal;
  readonly onProgress: (rows: number) => void;
};

/** Reads the whole list, and lets the browser draw meanwhile. Rejects when the signal aborts. */
export const readList = async (
  file: Blob,
  { signal, onProgress, ...options }: ListOptions & Reading,
): Promise<ReadList | ListFault> => {
  const opened = await openList(readStream(file.stream()), options);
  if (opened.kind === "fault") return opened;
  const countMax = Math.ceil(file.size / ADDRESS_BYTES_MIN) + 1;
  const seen = createTextSet(countMax);
  const counter = createSettledCounter(opened.format.vendor, countMax);
  const firstRows: string[][] = [];
  let [rows, unique, withoutAddress, shown] = [0, 0, 0, 0];
  let sliceEnd = performance.now() + STILL_MS;
  for await (const batch of opened.rows) {
    for (const { cells, email, line, record } of batch) {
      if (firstRows.length < ROWS_SHOWN && record !== shown) firstRows.push(cells.map(toText));
      shown = record;
      const parsed = parseAddressCell(email);
      if (!isAddress(parsed)) withoutAddress += 1;
      else {
        counter.add(parsed.canonical, line, cells);
        if (seen.add(parsed.canonical, line) === 0) unique += 1;
      }
    }
    rows += batch.length;
    if (performance.now() < sliceEnd) continue;
    onProgress(rows);
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
    sliceEnd = performance.now() + STILL_MS;
  }
  const format = { ...opened.format, encoding: opened.encoding() };
  const duplicates = rows - unique - withoutAddress;
  const settled = counter.count();
  return { kind: "read", format, firstRows, rows, unique, settled, duplicates, withoutAddress };
};
