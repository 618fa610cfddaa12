import { readAttribute } from "@mailproof/mail/lib/scan-xml";
import { scanXml } from "./scan-xml.ts";

// A date is a number with a date format (ECMA-376 Part 1, 18.8.30).

/** The index is the number of the style. */
export type CellFormats = readonly ("date" | "plain")[];

/** Formats that every program knows by their number: dates and times, East Asian ones included. */
const BUILT_IN_DATES: readonly (readonly [from: number, to: number])[] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
];

export const readCellFormats = async (bytes: AsyncIterable<Uint8Array>): Promise<CellFormats> => {
  const codes = new Map<number, string>();
  const formats: ("date" | "plain")[] = [];
  let isInCellFormats = false;
  await scanXml(bytes, {
    open: (name, tag) => {
      if (name === "numFmt")
        codes.set(Number(readAttribute(tag, "numFmtId")), readAttribute(tag, "formatCode") ?? "");
      if (name === "cellXfs") isInCellFormats = true;
      if (name !== "xf" || !isInCellFormats) return;
      const id = Number(readAttribute(tag, "numFmtId") ?? 0);
      formats.push(isDate(id, codes.get(id)) ? "date" : "plain");
    },
    close: (name) => {
      if (name === "cellXfs") isInCellFormats = false;
    },
    text: () => {},
  });
  return formats;
};

const isDate = (id: number, code: string | undefined): boolean =>
  code === undefined
    ? BUILT_IN_DATES.some(([from, to]) => id >= from && id <= to)
    : isDateCode(code);

/** Letters in quotes, in brackets such as colours, or after a backslash are text. */
const isDateCode = (code: string): boolean => {
  const plain = code.replaceAll(/"[^"]*"|\\.|\[[^\]]*\]|_.|\*./g, "");
  return /[ymdhs]/i.test(plain) && !/general/i.test(plain);
};

const DAY_MS = 86_400_000;
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
/** 9999-12-31, the last day of spreadsheets. */
const SERIAL_MAX = 2_958_466;
/** Spreadsheets count 1900 as a leap year; dates before its 29 February are a day off. */
const FALSE_LEAP_DAY = 60;

/** Formats a date as ISO 8601: a day, a time of day, or both. Undefined when the number is not a date. */
export const formatSerialDate = (serial: number, isFrom1904: boolean): string | undefined => {
  if (!(serial >= 0 && serial < SERIAL_MAX)) return undefined;
  const days = !isFrom1904 && serial < FALSE_LEAP_DAY && serial >= 1 ? serial + 1 : serial;
  const ms = Math.round(days * 86_400) * 1_000;
  const iso = new Date((isFrom1904 ? EPOCH_1904 : EPOCH_1900) + ms).toISOString();
  const [day = "", time = ""] = iso.slice(0, 19).split("T");
  if (serial < 1) return time;
  return ms % DAY_MS === 0 ? day : `${day}T${time}`;
};
