import { gunzipSync } from "node:zlib";
import { openZip, ZipFault } from "../../lib/zip.ts";
import { ReportFault } from "./report-fault.ts";

/** Of a report as it was sent, and of what is in it. */
export const REPORT_BYTES_MAX = 20_000_000;
/** A zip file of a report has one file in it, and perhaps the folders and notes that some systems add. */
const ENTRIES_MAX = 20;

/**
 * The report in a gzip or zip file, or the bytes themselves. The bytes decide, since names and media types are often
 * wrong. `bytesMax`: of what is unpacked.
 */
export const unpackReport = async (
  bytes: Uint8Array,
  bytesMax: number = REPORT_BYTES_MAX,
): Promise<Uint8Array> => {
  if (bytes.length === 0) throw new ReportFault("file", "is empty");
  if (bytes.length > REPORT_BYTES_MAX) throw createTooLarge("file");
  const kind = findPacking(bytes);
  if (kind === undefined) return bytes;
  const unpacked = kind === "gzip" ? gunzip(bytes, bytesMax) : await unzip(bytes, bytesMax);
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
  // A zip file begins with a file, or, without any, with its end.
  const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);
  return isZip ? "zip" : undefined;
};

const gunzip = (bytes: Uint8Array, maxOutputLength: number): Uint8Array => {
  try {
    return gunzipSync(bytes, { maxOutputLength });
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "ERR_BUFFER_TOO_LARGE")
      throw createTooLarge("file, unpacked");
    throw new ReportFault("file", "is a damaged gzip file");
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
      throw new ReportFault(
        "file",
        `holds ${reports.length} files; send each as a file of its own`,
      );
    return Buffer.concat(await Array.fromAsync(read(report, bytesMax)));
  } catch (error) {
    if (!(error instanceof ZipFault)) throw error;
    const what = error.kind === "damaged" ? `is a damaged zip file (${error.message})` : undefined;
    if (error.kind === "too_large") throw createTooLarge(`file (${error.message})`);
    if (error.kind === "over_limit") throw createTooLarge("file, unpacked");
    throw new ReportFault("file", what ?? "is an encrypted zip file; send it without a password");
  }
};

/** macOS adds a folder of its own to a zip file, and others add entries for folders. */
const isReportName = (name: string): boolean =>
  !name.endsWith("/") && !/(?:^|\/)(?:__MACOSX\/|\.)/.test(name);
