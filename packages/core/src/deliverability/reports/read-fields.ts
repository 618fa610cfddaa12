import { isDomain, parseDomain } from "../../mail/domain.ts";
import { parseIp } from "../../mail/ip.ts";
import { ReportFault } from "./report-fault.ts";

// The fields that both kinds of reports have.

const TEXT_LENGTH_MAX = 1_000;

/** A name or an id, on one line. Half a pair of UTF-16 cannot be stored or sent as UTF-8, so it is replaced. */
export const readName = (path: string, text: string | undefined): string => {
  if (text === undefined || text.trim() === "") throw new ReportFault(path, "is missing");
  if (text.length > TEXT_LENGTH_MAX)
    throw new ReportFault(path, `is over ${TEXT_LENGTH_MAX} characters`);
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
};

export const readDomain = (path: string, text: string | undefined): string => {
  if (text === undefined) throw new ReportFault(path, "is missing");
  const domain = parseDomain(text.replace(/\.$/, "").toLowerCase());
  if (isDomain(domain)) return domain.ascii;
  throw new ReportFault(path, "must be a domain name");
};

/** More messages than any sender has for one receiver in a day. The sums of all stay exact numbers. */
const COUNT_MAX = 1_000_000_000_000;

export const readCount = (path: string, text: string | undefined): number => {
  if (text === undefined) throw new ReportFault(path, "is missing");
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= COUNT_MAX) return count;
  throw new ReportFault(path, `must be a whole number from 0 to ${COUNT_MAX}`);
};

/** IPv6 in its one short spelling, IPv4 also where it is mapped into IPv6. */
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

const EARLIEST = Date.UTC(2010, 0, 1);
const LATEST = Date.UTC(2100, 0, 1);
/** Reports are for a day as a rule. A range of months has no day. */
const RANGE_DAYS_MAX = 31;

export const readTime = (path: string, ms: number): Date => {
  if (ms >= EARLIEST && ms < LATEST) return new Date(ms);
  throw new ReportFault(path, "must be a time between 2010 and 2100");
};

export const assertRange = (path: string, begin: Date, end: Date): void => {
  if (begin > end) throw new ReportFault(path, "ends before it begins");
  if (end.getTime() - begin.getTime() > RANGE_DAYS_MAX * 86_400_000)
    throw new ReportFault(path, `is longer than ${RANGE_DAYS_MAX} days`);
};
