import { readStream } from "./read-stream.ts";

// The only reader of zip files (APPNOTE.TXT 4.3), on servers and in browsers. It ignores the sizes that a file states and
// counts the bytes of an entry, up to the caller's limit. It uses no library: the runtime inflates faster, and a library would
// add its bytes to the dashboard.

export class ZipFault extends Error {
  readonly kind: "damaged" | "too_large" | "over_limit" | "encrypted";

  constructor(kind: ZipFault["kind"], what: string) {
    super(what);
    this.kind = kind;
  }
}

type ZipEntry = {
  readonly method: number;
  readonly crc: number;
  readonly compressedBytes: number;
  readonly offset: number;
};

const STORED = 0;
const DEFLATED = 8;

const END_SIGNATURE = 0x06_05_4b_50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 65_535;
const ZIP_TAIL_BYTES = END_BYTES + COMMENT_BYTES_MAX;

const DIRECTORY_SIGNATURE = 0x02_01_4b_50;
const DIRECTORY_ENTRY_BYTES = 46;
const DIRECTORY_BYTES_MAX = 16_000_000;
const IN_ZIP64 = 0xff_ff_ff_ff;
const ENCRYPTED = 1;

const findDirectory = (tail: Uint8Array) => {
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

const parseDirectory = (bytes: Uint8Array): ReadonlyMap<string, ZipEntry> => {
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
    // With two entries of one name, two programs may read different ones.
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

const assertReadable = (name: string, { compressedBytes, offset, method }: ZipEntry): void => {
  if (compressedBytes === IN_ZIP64 || offset === IN_ZIP64) throw new ZipFault("too_large", name);
  if (method !== STORED && method !== DEFLATED)
    throw new ZipFault("damaged", `${name}: method ${method}`);
};

const LOCAL_HEADER_BYTES = 30;

/** The data starts after the local header, which repeats the name and has an extra field with its own length. */
const findData = async (file: Blob, offset: number): Promise<number> => {
  const view = toView(await readBytes(file, offset, offset + LOCAL_HEADER_BYTES));
  return offset + LOCAL_HEADER_BYTES + view.getUint16(26, true) + view.getUint16(28, true);
};

const readBytes = async (file: Blob, from: number, to: number): Promise<Uint8Array> => {
  const bytes = new Uint8Array(await file.slice(from, to).arrayBuffer());
  if (bytes.length < to - from) throw new ZipFault("damaged", "it ends too early");
  return bytes;
};

async function* readEntry(
  file: Blob,
  name: string,
  entry: ZipEntry,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  const { method, crc, compressedBytes, offset } = entry;
  assertReadable(name, entry);
  const start = await findData(file, offset);
  if (start + compressedBytes > file.size) throw new ZipFault("damaged", "it ends too early");
  const packed = file.slice(start, start + compressedBytes).stream();
  const content =
    method === STORED ? packed : packed.pipeThrough(new DecompressionStream("deflate-raw"));
  let bytes = 0;
  let sum = 0;
  try {
    for await (const piece of readStream(content)) {
      bytes += piece.length;
      if (bytes > bytesMax) throw new ZipFault("over_limit", name);
      sum = addToCrc(sum, piece);
      yield piece;
    }
  } catch (error) {
    throw error instanceof ZipFault ? error : new ZipFault("damaged", name);
  }
  if (sum !== crc) throw new ZipFault("damaged", `${name}: wrong checksum`);
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? 0xed_b8_83_20 ^ (sum >>> 1) : sum >>> 1;
  return sum;
});

/** A CRC in JavaScript, because browsers offer none. */
const addToCrc = (before: number, bytes: Uint8Array): number => {
  let sum = ~before;
  for (let at = 0; at < bytes.length; at++)
    sum = (CRC_TABLE[(sum ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (sum >>> 8);
  return ~sum >>> 0;
};

export type ZipFile = {
  readonly names: readonly string[];
  readonly read: (name: string, bytesMax: number) => AsyncGenerator<Uint8Array>;
};

export const openZip = async (file: Blob): Promise<ZipFile> => {
  const tail = await readBytes(file, Math.max(0, file.size - ZIP_TAIL_BYTES), file.size);
  const { from, to } = findDirectory(tail);
  const entries = parseDirectory(await readBytes(file, from, to));
  return {
    names: [...entries.keys()],
    read: (name, bytesMax) => {
      const entry = entries.get(name);
      if (!entry) throw new ZipFault("damaged", `${name} is missing`);
      return readEntry(file, name, entry, bytesMax);
    },
  };
};

const toView = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);
