import type { Part } from "./endpoint.ts";
import { boundaryIn, type Field, fieldIn, malformed } from "./form-headers.ts";
import { invalidField } from "./parse.ts";

/** Our forms have three fields. A form with a million empty fields is an attack. */
const PARTS_MAX = 20;
const HEADERS_BYTES_MAX = 16_384;
/** The reader joins a plain field in memory. */
const FIELD_BYTES_MAX = 10_240;

const LINE_END = Buffer.from("\r\n");
const BLANK_LINE = Buffer.from("\r\n\r\n");
const CLOSING = Buffer.from("--");

/**
 * Yields the parts of a multipart/form-data body (RFC 7578), in order and in constant memory. It ignores the text before the
 * first boundary and after the last (RFC 2046 §5.1.1).
 */
export async function* readForm(
  contentType: string,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Part> {
  const dashes = Buffer.from(`--${boundaryIn(contentType)}`);
  const source = bytes[Symbol.asyncIterator]();
  const reader = createReader(source);
  try {
    // The line end before a boundary belongs to the boundary, and not to the file.
    const boundary = Buffer.concat([LINE_END, dashes]);
    while (await reader.before(boundary, "holds no boundary"));
    for (let count = 1; !(await reader.took(CLOSING, UNFINISHED)); count++) {
      if (count > PARTS_MAX) throw malformed(`may have at most ${PARTS_MAX} parts`);
      const field = fieldIn(await headersIn(reader));
      // A part may end with its headers: then their blank line precedes the boundary.
      const isEmpty = await reader.took(dashes, UNFINISHED);
      const content = createContent(reader, isEmpty ? null : boundary, field);
      yield { ...field, content: { [Symbol.asyncIterator]: () => ({ next: content.next }) } };
      await content.skip();
    }
  } finally {
    await source.return?.();
  }
}

const UNFINISHED = "ends before its last boundary";

type Reader = {
  /** Returns the next bytes before this mark; null when none are left, and then it consumes the mark. */
  readonly before: (mark: Buffer, orElse: string) => Promise<Buffer | null>;
  readonly took: (mark: Buffer, orElse: string) => Promise<boolean>;
};

const createReader = (source: AsyncIterator<Uint8Array>): Reader => {
  // Starts as if a line had just ended, because the first boundary may begin the body.
  let held: Buffer = LINE_END;
  const more = async (orElse: string) => {
    const { done, value } = await source.next();
    if (done) throw malformed(orElse);
    held = Buffer.concat([held, value]);
  };
  const cut = (length: number): Buffer => {
    const piece = held.subarray(0, length);
    held = held.subarray(length);
    return piece;
  };

  return {
    before: async (mark, orElse) => {
      for (;;) {
        const at = held.indexOf(mark);
        if (at === 0) {
          cut(mark.length);
          return null;
        }
        // The last bytes may be the beginning of the mark.
        const sure = at > 0 ? at : held.length - mark.length + 1;
        if (sure > 0) return cut(sure);
        await more(orElse);
      }
    },
    took: async (mark, orElse) => {
      while (held.length < mark.length) await more(orElse);
      const isNext = held.subarray(0, mark.length).equals(mark);
      if (isNext) cut(mark.length);
      return isNext;
    },
  };
};

const headersIn = async (reader: Reader): Promise<string> => {
  // Spaces may follow a boundary. Any other text means that the content contains the boundary.
  if ((await textBefore(LINE_END, reader)).trim() !== "")
    throw malformed("has a line that continues after its boundary");
  return (await reader.took(LINE_END, UNFINISHED)) ? "" : textBefore(BLANK_LINE, reader);
};

const textBefore = async (mark: Buffer, { before }: Reader): Promise<string> => {
  const pieces: Buffer[] = [];
  let length = 0;
  for (;;) {
    const piece = await before(mark, "has a part whose headers do not end");
    if (!piece) return Buffer.concat(pieces).toString();
    length += piece.length;
    if (length > HEADERS_BYTES_MAX)
      throw malformed(`has a part with more than ${HEADERS_BYTES_MAX} bytes of headers`);
    pieces.push(piece);
  }
};

const createContent = (reader: Reader, boundary: Buffer | null, { name, fileName }: Field) => {
  let end = boundary;
  let length = 0;
  let isPast = false;

  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    // Otherwise the part would look empty, and a file would be lost silently.
    if (isPast) throw new Error(`the part ${name} is read after the next part was requested`);
    const piece = end && (await reader.before(end, UNFINISHED));
    if (!piece) {
      end = null;
      return { done: true, value: undefined };
    }
    length += piece.length;
    if (fileName === null && length > FIELD_BYTES_MAX)
      throw invalidField(name, `must have at most ${FIELD_BYTES_MAX} bytes, or be sent as a file`);
    return { done: false, value: piece };
  };

  const skip = async () => {
    while (!(await next()).done);
    isPast = true;
  };
  return { next, skip };
};
