import type { DnsOutcome, DnsRecords, DnsRecordType, MxRecordData } from "@mailproof/mail/dns/dns";

// Encodes and decodes DNS messages (RFC 1035 §4), as far as a resolver's client needs: the question, and the answer section. The counts in
// the header show that a message is too large, before the decoder reads any record.

export type DnsQuery = { readonly id: number; readonly type: DnsRecordType; readonly name: string };

const TYPE_CODE: Readonly<Record<DnsRecordType, number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  TLSA: 52,
};
const CLASS_IN = 1;

/**
 * The limits of an answer; above them the outcome is `too_large`. Bytes count the whole message, records the answer section with its
 * aliases. An answer of 64 KB may hold four thousand records, and decoding them would block the event loop.
 */
const LIMITS: Readonly<Record<"TXT" | "other", { bytes: number; records: number }>> = {
  // A domain has one SPF record among the ownership proofs of every service that it ever used: the largest sets of well-known companies
  // have some 150 records and 15 KB.
  TXT: { bytes: 32_768, records: 512 },
  // We look up ten mail hosts and try their first addresses. Large pools have a hundred addresses, large companies some twenty mail hosts.
  other: { bytes: 16_384, records: 256 },
};

const getLimit = (type: DnsRecordType) => LIMITS[type === "TXT" ? "TXT" : "other"];

export const isTooLong = (type: DnsRecordType, bytes: number): boolean =>
  bytes > getLimit(type).bytes;

const HEADER_BYTES = 12;
const RECURSION_DESIRED = 0x01_00;
/** A question sets this bit to ask for it in the answer (RFC 6840 §5.7); in the answer it says that the resolver validated DNSSEC. */
const AUTHENTIC_DATA = 0x00_20;
const IS_RESPONSE = 0x80_00;
const IS_TRUNCATED = 0x02_00;
const RCODE = 0x0f;
const FORMERR = 1;
const OPT_TYPE = 41;
/** A message of this size crosses every network in one packet (DNS flag day 2020). */
const UDP_BYTES = 1232;

/** `edns` allows answers of 1,232 bytes over UDP (RFC 6891) in place of 512. */
export const encodeQuestion = ({ id, type, name }: DnsQuery, edns: boolean): Buffer => {
  const labels = name.split(".").map((label) => Buffer.from(label, "latin1"));
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(RECURSION_DESIRED | AUTHENTIC_DATA, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(edns ? 1 : 0, 10);
  return Buffer.concat([
    header,
    ...labels.flatMap((label) => [Buffer.from([label.length]), label]),
    Buffer.from([0, 0, TYPE_CODE[type], 0, CLASS_IN]),
    ...(edns
      ? [Buffer.from([0, 0, OPT_TYPE, UDP_BYTES >> 8, UDP_BYTES & 0xff, 0, 0, 0, 0, 0, 0])]
      : []),
  ]);
};

export const readId = (bytes: Buffer): number | undefined =>
  bytes.length < 2 ? undefined : bytes.readUInt16BE();

export type DnsReply<T extends DnsRecordType> =
  | DnsOutcome<DnsRecords[T]>
  | { readonly kind: "truncated" }
  | { readonly kind: "formerr" }
  | { readonly kind: "unrelated" };

const SERVFAIL = { kind: "servfail" } as const;
const OUTCOME_BY_CODE: Readonly<Record<number, DnsOutcome<never>>> = {
  3: { kind: "nxdomain" },
  5: { kind: "refused" },
};

/** Decodes the answer to a question. Bytes that are not DNS are a failure of the server, and prove nothing about the name. */
export const decodeReply = <T extends DnsRecordType>(
  bytes: Buffer,
  question: DnsQuery & { readonly type: T },
): DnsReply<T> => {
  if (readId(bytes) !== question.id) return { kind: "unrelated" };
  try {
    return readReply(bytes, question);
  } catch (error) {
    if (error instanceof RangeError) return SERVFAIL;
    throw error;
  }
};

const readReply = <T extends DnsRecordType>(
  bytes: Buffer,
  { type, name }: DnsQuery & { readonly type: T },
): DnsReply<T> => {
  const flags = bytes.readUInt16BE(2);
  const code = flags & RCODE;
  const questions = bytes.readUInt16BE(4);
  // A server that could not read the question may leave it out of its answer.
  if (code === FORMERR && questions === 0) return { kind: "formerr" };
  if (questions !== 1) return SERVFAIL;
  const question = readName(bytes, HEADER_BYTES);
  const isOurs =
    (flags & IS_RESPONSE) !== 0 &&
    bytes.readUInt16BE(question.end) === TYPE_CODE[type] &&
    question.labels.join(".").toLowerCase() === name.toLowerCase();
  if (!isOurs) return { kind: "unrelated" };
  if (code === FORMERR) return { kind: "formerr" };
  if ((flags & IS_TRUNCATED) !== 0) return { kind: "truncated" };
  if (code !== 0) return OUTCOME_BY_CODE[code] ?? SERVFAIL;
  const count = bytes.readUInt16BE(6);
  if (isTooLong(type, bytes.length) || count > getLimit(type).records) return { kind: "too_large" };
  const records = readRecords(bytes, question.end + 4, count, type);
  // An answer that holds only aliases, whose target has no record of the type, means nodata.
  if (records.length === 0) return { kind: "nodata" };
  return { kind: "ok", records, ...((flags & AUTHENTIC_DATA) !== 0 && { isAuthentic: true }) };
};

const readRecords = <T extends DnsRecordType>(
  bytes: Buffer,
  start: number,
  count: number,
  type: T,
): DnsRecords[T][] => {
  const records: DnsRecords[T][] = [];
  let at = start;
  for (let n = 0; n < count; n += 1) {
    const head = skipName(bytes, at);
    const data = head + 10;
    const end = data + bytes.readUInt16BE(head + 8);
    if (end > bytes.length) throw new RangeError("a record ends behind its message");
    const isRequested =
      bytes.readUInt16BE(head) === TYPE_CODE[type] && bytes.readUInt16BE(head + 2) === CLASS_IN;
    if (isRequested) records.push(RECORD_READERS[type](bytes, data, end));
    at = end;
  }
  return records;
};

const NAME_BYTES_MAX = 255;
const POINTER = 0xc0;

/**
 * Reads a name. A pointer must lead to earlier bytes (RFC 1035 §4.1.4), so every name ends. Many names may point to the same bytes, so the
 * cost is bounded too: a name has at most 128 labels, and the reader visits none of them twice.
 */
const readName = (
  bytes: Buffer,
  start: number,
): { readonly labels: readonly string[]; readonly end: number } => {
  const labels: string[] = [];
  let [at, before, length, end] = [start, start, 1, -1];
  for (;;) {
    const size = bytes.readUInt8(at);
    if (size === 0) break;
    if ((size & POINTER) === POINTER) {
      if (end < 0) end = at + 2;
      at = bytes.readUInt16BE(at) & 0x3f_ff;
      // Each jump counts, or a chain of pointers could be as long as the message.
      length += 1;
      if (at >= before || length > NAME_BYTES_MAX)
        throw new RangeError("a pointer that leads nowhere");
      before = at;
      continue;
    }
    length += size + 1;
    if (size > 63 || length > NAME_BYTES_MAX || at + 1 + size > bytes.length)
      throw new RangeError("a name that is too long");
    labels.push(bytes.toString("latin1", at + 1, at + 1 + size));
    at += 1 + size;
  }
  return { labels, end: end < 0 ? at + 1 : end };
};

const skipName = (bytes: Buffer, start: number): number => {
  let at = start;
  for (;;) {
    const size = bytes.readUInt8(at);
    if (size === 0) return at + 1;
    if ((size & POINTER) === POINTER) return at + 2;
    if (size > 63) throw new RangeError("a label that is too long");
    at += 1 + size;
  }
};

/** Escapes a label as zone files do: each dot in it and each invisible character (RFC 1035 §5.1). */
const escapeLabel = (label: string): string =>
  /^[\w-]*$/.test(label) || !/[^ -~]|[.\\]/.test(label)
    ? label
    : label.replaceAll(/[^ -~]|[.\\]/g, (sign) =>
        sign === "." || sign === "\\"
          ? `\\${sign}`
          : `\\${String(sign.charCodeAt(0)).padStart(3, "0")}`,
      );

const readNameText = (bytes: Buffer, at: number): string =>
  readName(bytes, at).labels.map(escapeLabel).join(".");

/** Usage, selector and matching type precede the data (RFC 6698 §2.1). */
const TLSA_HEAD_BYTES = 3;

const RECORD_READERS: {
  readonly [T in DnsRecordType]: (bytes: Buffer, at: number, end: number) => DnsRecords[T];
} = {
  A: (bytes, at, end) => {
    if (end - at !== 4) throw new RangeError("no IPv4 address");
    return [...bytes.subarray(at, end)].join(".");
  },
  AAAA: (bytes, at, end) => {
    if (end - at !== 16) throw new RangeError("no IPv6 address");
    return formatIpv6(bytes, at);
  },
  MX: (bytes, at): MxRecordData => ({
    priority: bytes.readUInt16BE(at),
    exchange: readNameText(bytes, at + 2),
  }),
  TXT: (bytes, at, end) => {
    let text = "";
    for (let next = at; next < end; ) {
      const after = next + 1 + bytes.readUInt8(next);
      if (after > end) throw new RangeError("a string ends behind its record");
      text += bytes.toString("latin1", next + 1, after);
      next = after;
    }
    return text;
  },
  PTR: readNameText,
  CNAME: readNameText,
  NS: readNameText,
  TLSA: (bytes, at, end) => {
    if (end - at <= TLSA_HEAD_BYTES) throw new RangeError("no certificate data");
    const [usage, selector, matchingType] = bytes.subarray(at, at + TLSA_HEAD_BYTES);
    return `${usage} ${selector} ${matchingType} ${bytes.toString("hex", at + TLSA_HEAD_BYTES, end)}`;
  },
};

/** Writes an address in the form of RFC 5952, as URLs do. */
const formatIpv6 = (bytes: Buffer, at: number): string => {
  const words = Array.from({ length: 8 }, (_, n) => bytes.readUInt16BE(at + 2 * n).toString(16));
  return new URL(`http://[${words.join(":")}]`).hostname.slice(1, -1);
};
