/** A field of a header section. Texts are Latin-1: a character for each byte. */
export type HeaderField = {
  readonly key: string;
  /** The whole original field, with CRLF in its folds and none at its end. */
  readonly raw: string;
};

export type HeaderSection = {
  readonly fields: readonly HeaderField[];
  /** Lines that neither start nor continue a field. Mail servers read them as part of the field above. */
  readonly strayLines: number;
  readonly bodyAt: number;
};

const FIELDS_MAX = 2_000;
/** The reader cuts off a longer header section, which mail servers refuse anyway. */
const SECTION_BYTES_MAX = 1024 * 1024;

/** RFC 5322 §3.6.8, with the white space before the colon that §4.5.8 still allows. */
const FIELD_START = /^([!-9;-~]+)[\t ]*:/;

/** Reads the fields at the beginning of a message or of one of its parts. All line ends are CRLF. */
export const readFields = (bytes: Buffer): HeaderSection => {
  const isEmpty = bytes[0] === 0x0d && bytes[1] === 0x0a;
  const end = isEmpty ? 0 : bytes.indexOf("\r\n\r\n");
  const bodyAt = isEmpty ? 2 : end < 0 ? bytes.length : end + 4;
  const textEnd = isEmpty ? 0 : end < 0 ? bytes.length : end;
  const text = bytes.toString("latin1", 0, Math.min(textEnd, SECTION_BYTES_MAX));

  const fields: { key: string; lines: string[] }[] = [];
  let strayLines = 0;
  for (const line of text === "" ? [] : text.replace(/\r\n$/, "").split("\r\n")) {
    const last = fields.at(-1);
    const key = FIELD_START.exec(line)?.[1]?.toLowerCase();
    const isFold = line.startsWith(" ") || line.startsWith("\t");
    if (key !== undefined) {
      if (fields.length === FIELDS_MAX) break;
      fields.push({ key, lines: [line] });
    } else {
      if (!isFold || !last) strayLines += 1;
      last?.lines.push(line);
    }
  }
  return {
    fields: fields.map(({ key, lines }) => ({ key, raw: lines.join("\r\n") })),
    strayLines,
    bodyAt,
  };
};

export const getValue = ({ raw }: HeaderField): string =>
  raw
    .slice(raw.indexOf(":") + 1)
    .replaceAll("\r\n", "")
    .trim();

export const findFields = (fields: readonly HeaderField[], name: string): readonly HeaderField[] =>
  fields.filter(({ key }) => key === name);

export const findValue = (fields: readonly HeaderField[], name: string): string | null => {
  const [field] = findFields(fields, name);
  return field ? getValue(field) : null;
};
