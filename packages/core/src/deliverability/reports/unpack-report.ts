import { crc32, gunzipSync, inflateRawSync } from "node:zlib";
import { openZip, ZipFault } from "../../lib/zip.ts";
import { ReportFault } from "./report-fault.ts";
import type { AddNote } from "./report-notes.ts";

/** The limit of a report's sent bytes and of its unpacked bytes. */
export const REPORT_BYTES_MAX = 20_000_000;
/** A report's zip file contains one file, and perhaps folders and notes that some systems add. */
const ENTRIES_MAX = 20;

/**
 * Unpacks a gzip or zip file, or returns the bytes themselves. The bytes decide, since names and media types are often wrong.
 * `bytesMax` limits the unpacked bytes.
 */
export const unpackReport = async (
  bytes: Uint8Array,
  note: AddNote,
  bytesMax: number = REPORT_BYTES_MAX,
): Promise<Uint8Array> => {
  if (bytes.length === 0) throw new ReportFault("file", "is empty");
  if (bytes.length > REPORT_BYTES_MAX) throw createTooLarge("file");
  const kind = findPacking(bytes);
  if (kind === undefined) return bytes;
  const unpacked = kind === "gzip" ? gunzip(bytes, note, bytesMax) : await unzip(bytes, bytesMax);
  if (findPacking(unpacked))
    throw new ReportFault("file", "holds a packed file inside a packed file; unpack it once");
  if (unpacked.length === 0) throw new ReportFault("file", "holds an empty report");
  return unpacked;
};

const createTooLarge = (path: string): ReportFault =>
  new ReportFault(path, `is over ${REPORT_BYTES_MAX} bytes, the most that a report may have`, {
    isTooLarge: true,
  });

export const findPacking = (bytes: Uint8Array): "gzip" | "zip" | undefined => {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return "gzip";
  // A zip file starts with a file or, when empty, with its end record.
  const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);
  return isZip ? "zip" : undefined;
};

const gunzip = (bytes: Uint8Array, note: AddNote, maxOutputLength: number): Uint8Array => {
  try {
    return gunzipSync(bytes, { maxOutputLength });
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "ERR_BUFFER_TOO_LARGE")
      throw createTooLarge("file, unpacked");
    const first = gunzipFirst(bytes, maxOutputLength);
    if (!first) throw new ReportFault("file", "is a damaged gzip file");
    note("file", "has bytes after the end of its gzip file, which are left out");
    return first;
  }
};

const GZIP_HEADER_BYTES = 10;
const GZIP_TRAILER_BYTES = 8;
/** RFC 1952 §2.3.1 defines these flags for the optional fields of the header. */
const [HAS_HEADER_CRC, HAS_EXTRA, HAS_NAME, HAS_COMMENT] = [2, 4, 8, 16];

/** Unpacks a gzip file with bytes after its end, which zlib takes for a second, damaged file. */
const gunzipFirst = (bytes: Uint8Array, maxOutputLength: number): Uint8Array | undefined => {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view[3] ?? 0;
  let at = GZIP_HEADER_BYTES;
  if (flags & HAS_EXTRA && at + 2 <= view.length) at += 2 + view.readUInt16LE(at);
  for (const flag of [HAS_NAME, HAS_COMMENT])
    if (flags & flag) at = view.indexOf(0, at) + 1 || view.length;
  if (flags & HAS_HEADER_CRC) at += 2;
  try {
    // With `info`, which the types omit, zlib returns the number of bytes read.
    const { buffer, engine } = inflateRawSync(view.subarray(at), {
      info: true,
      maxOutputLength,
    }) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    const trailerAt = at + engine.bytesWritten;
    const isWhole =
      trailerAt + GZIP_TRAILER_BYTES <= view.length &&
      view.readUInt32LE(trailerAt) === crc32(buffer) &&
      view.readUInt32LE(trailerAt + 4) === buffer.length;
    return isWhole ? buffer : undefined;
  } catch {
    return undefined;
  }
};

const unzip = async (bytes: Uint8Array, bytesMax: number): Promise<Uint8Array> => {
  try {
    const { names, read } = await openZip(new Blob([bytes as Uint8Array<ArrayBuffer>]));
    if (names.length > ENTRIES_MAX)
      throw new ReportFault("file", `holds more than ${ENTRIES_MAX} files`);
    const reports = names.filter(isReportName);
    const [report, ...others] = reports;
    if (report === undefined) throw new ReportFault("file", "is a zip file without a report in it");
    if (others.length > 0)
      throw new ReportFault("file", `holds ${reports.length} files; send each as its own file`);
    return Buffer.concat(await Array.fromAsync(read(report, bytesMax)));
  } catch (error) {
    if (!(error instanceof ZipFault)) throw error;
    const what = error.kind === "damaged" ? `is a damaged zip file (${error.message})` : undefined;
    if (error.kind === "too_large") throw createTooLarge(`file (${error.message})`);
    if (error.kind === "over_limit") throw createTooLarge("file, unpacked");
    throw new ReportFault("file", what ?? "is an encrypted zip file; send it without a password");
  }
};

/** macOS adds its own folder to a zip file, and other systems add entries for folders. */
const isReportName = (name: string): boolean =>
  !name.endsWith("/") && !/(?:^|\/)(?:__MACOSX\/|\.)/.test(name);
