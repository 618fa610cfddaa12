// The directory of a zip file (APPNOTE.TXT 4.3), in bytes that the caller reads. What the sizes in it promise is never
// believed: the reader of an entry counts its bytes.

/** Why bytes are no zip file that is read here. */
export class ZipFault extends Error {
  readonly kind: "damaged" | "too_large" | "encrypted";

  constructor(kind: ZipFault["kind"], what: string) {
    super(what);
    this.kind = kind;
  }
}

export type ZipEntry = {
  readonly method: number;
  readonly crc: number;
  readonly compressedBytes: number;
  readonly offset: number;
};

export const STORED = 0;
export const DEFLATED = 8;

const END_SIGNATURE = 0x06_05_4b_50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 65_535;
/** The end of a file in which the place of the directory stands. */
export const ZIP_TAIL_BYTES = END_BYTES + COMMENT_BYTES_MAX;

const DIRECTORY_SIGNATURE = 0x02_01_4b_50;
const DIRECTORY_ENTRY_BYTES = 46;
const DIRECTORY_BYTES_MAX = 16_000_000;
const IN_ZIP64 = 0xff_ff_ff_ff;
const ENCRYPTED = 1;

export type ByteRange = { readonly from: number; readonly to: number };

export const findZipDirectory = (tail: Uint8Array): ByteRange => {
  const view = toView(tail);
  for (let at = tail.length - END_BYTES; at >= 0; at--) {
    if (view.getUint32(at, true) !== END_SIGNATURE) continue;
    const bytes = view.getUint32(at + 12, true);
    const from = view.getUint32(at + 16, true);
    if (from === IN_ZIP64 || bytes > DIRECTORY_BYTES_MAX)
      throw new ZipFault("too_large", "its directory");
    return { from, to: from + bytes };
  }
  throw new ZipFault("damaged", "it ends too early");
};

export const parseZipDirectory = (bytes: Uint8Array): ReadonlyMap<string, ZipEntry> => {
  const view = toView(bytes);
  const decoder = new TextDecoder();
  const entries = new Map<string, ZipEntry>();
  for (let at = 0; at + DIRECTORY_ENTRY_BYTES <= bytes.length; ) {
    if (view.getUint32(at, true) !== DIRECTORY_SIGNATURE)
      throw new ZipFault("damaged", "its directory");
    if ((view.getUint16(at + 8, true) & ENCRYPTED) !== 0)
      throw new ZipFault("encrypted", "it is encrypted");
    const nameBytes = view.getUint16(at + 28, true);
    const nameAt = at + DIRECTORY_ENTRY_BYTES;
    const name = decoder.decode(bytes.subarray(nameAt, nameAt + nameBytes));
    // Two programs may read different ones of two entries with one name.
    if (entries.has(name)) throw new ZipFault("damaged", `${name} occurs twice`);
    const entry = {
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      compressedBytes: view.getUint32(at + 20, true),
      offset: view.getUint32(at + 42, true),
    };
    entries.set(name, entry);
    at = nameAt + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return entries;
};

/** Throws for an entry that no reader here can read. */
export const assertReadable = (
  name: string,
  { compressedBytes, offset, method }: ZipEntry,
): void => {
  if (compressedBytes === IN_ZIP64 || offset === IN_ZIP64) throw new ZipFault("too_large", name);
  if (method !== STORED && method !== DEFLATED)
    throw new ZipFault("damaged", `${name}: method ${method}`);
};

export const LOCAL_HEADER_BYTES = 30;

/** Where the data of an entry begins: the local header repeats the name, and its extra field has a length of its own. */
export const findZipData = (offset: number, localHeader: Uint8Array): number => {
  const view = toView(localHeader);
  return offset + LOCAL_HEADER_BYTES + view.getUint16(26, true) + view.getUint16(28, true);
};

const toView = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);
