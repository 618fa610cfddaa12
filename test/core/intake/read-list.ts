import { toText } from "@mailproof/core/intake/byte-text";
import {
  type ListFault,
  type ListFormat,
  type ListOptions,
  type ListRow,
  openList,
} from "@mailproof/core/intake/open-list";

export type ReadList = { readonly info: ListFormat; readonly rows: readonly ListRow[] };

export async function* getPieces(bytes: Uint8Array, length = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

export const readList = async (
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: ListOptions = {},
): Promise<ReadList | ListFault> => {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const opened = await openList(bytes instanceof Uint8Array ? getPieces(bytes) : bytes, options);
  if (opened.kind === "fault") return opened;
  const rows = (await Array.fromAsync(opened.rows)).flat();
  const read = rows.map((row) => ({ ...row, cells: row.cells.map(toText) }));
  return { info: opened.format, rows: read };
};

/** For a list that has no fault. */
export const listRows = async (
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: ListOptions = {},
): Promise<ReadList> => {
  const read = await readList(content, options);
  if ("fault" in read) throw new Error(read.message);
  return read;
};

export const listEmails = async (
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: ListOptions = {},
): Promise<readonly string[]> => (await listRows(content, options)).rows.map(({ email }) => email);
