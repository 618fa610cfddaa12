import { isDomain, parseDomain } from "@mailproof/mail/domain";
import { parseIp } from "@mailproof/mail/ip";
import { DAY_MS } from "../../lib/time.ts";
import { ReportFault } from "./report-fault.ts";
import type { AddNote, ReportNote } from "./report-notes.ts";

export type ReadContext = {
  readonly note: AddNote;
  /** Creates an id for a report without one. Equal texts get the same id, so a report is stored once. */
  readonly createId: () => string;
};

const TEXT_LENGTH_MAX = 1_000;

/** Reads a name or an id as one line. A lone surrogate cannot be stored or sent as UTF-8, so it is replaced. */
export const readName = (
  { note }: Pick<ReadContext, "note">,
  path: string,
  text: string | undefined,
): string | undefined => {
  const name = text
    ?.toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  if (name === undefined || name === "") note(path, "is missing");
  else if (name.length > TEXT_LENGTH_MAX) note(path, `is over ${TEXT_LENGTH_MAX} characters`);
  else return name;
  return undefined;
};

export const UNNAMED_REPORTER = "unknown";

export const readDomain = (path: string, text: string | undefined): string => {
  if (text === undefined) throw new ReportFault(path, "is missing");
  const domain = parseDomain(text.replace(/\.$/, "").toLowerCase());
  if (isDomain(domain)) return domain.ascii;
  throw new ReportFault(path, "must be a domain name");
};

/** More messages than any sender sends to one receiver in a day. The sums of all stay exact numbers. */
const COUNT_MAX = 1_000_000_000_000;

export const readCount = (path: string, text: string | undefined): number => {
  if (text === undefined) throw new ReportFault(path, "is missing");
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= COUNT_MAX) return count;
  throw new ReportFault(path, `must be a whole number from 0 to ${COUNT_MAX}`);
};

/** Returns IPv6 in its one short spelling, and IPv4 even when it is mapped into IPv6. */
export const readIp = (path: string, text: string | undefined): string => {
  if (text === undefined) throw new ReportFault(path, "is missing");
  const ip = parseIp(text);
  if (!ip) throw new ReportFault(path, "must be an IPv4 or IPv6 address");
  if (ip.bits === 32) return text;
  if (ip.value >> 32n === 0xffffn) {
    const value = Number(ip.value & 0xffff_ffffn);
    return [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join(".");
  }
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
};

const LATEST = Date.UTC(2100, 0, 1);
/** A range of months cannot count for one day. */
const RANGE_DAYS_MAX = 31;

export type ReadTime = ReportNote | Date;

/** Reporters' clocks may be wrong by decades, and the sample in RFC 9990 is from 1979. */
export const toTime = (path: string, ms: number): ReadTime =>
  ms >= 0 && ms < LATEST ? new Date(ms) : { path, what: "must be a time between 1970 and 2100" };

/** One end of a range is enough to know the day, since most reports cover one day. */
export const readRange = (
  { note }: Pick<ReadContext, "note">,
  path: string,
  { begin, end }: { readonly begin: ReadTime; readonly end: ReadTime },
): { readonly begin: Date; readonly end: Date } => {
  for (const time of [begin, end]) if (!(time instanceof Date)) note(time.path, time.what);
  if (!(end instanceof Date)) {
    if (!(begin instanceof Date)) throw new ReportFault(begin.path, begin.what);
    return { begin, end: new Date(begin.getTime() + DAY_MS) };
  }
  const dayBefore = new Date(end.getTime() - DAY_MS);
  if (!(begin instanceof Date)) return { begin: dayBefore, end };
  const days = (end.getTime() - begin.getTime()) / DAY_MS;
  if (days >= 0 && days <= RANGE_DAYS_MAX) return { begin, end };
  note(path, days < 0 ? "ends before it begins" : `is longer than ${RANGE_DAYS_MAX} days`);
  return { begin: dayBefore, end };
};
