import { isDomain, parseDomain } from "../domain.ts";
import { isSpf } from "../spf/parse.ts";
import { type ListTag, listRepeated, parseTagList } from "../tag-list.ts";

export const POLICIES = ["none", "quarantine", "reject"] as const;

export type DmarcPolicy = (typeof POLICIES)[number];

export const isWeaker = (one: DmarcPolicy, other: DmarcPolicy): boolean =>
  POLICIES.indexOf(one) < POLICIES.indexOf(other);

export type ReportAddress = {
  readonly uri: string;
  /** Null for other schemes than mailto:. */
  readonly domain: string | null;
  readonly isValid: boolean;
  /** The URI ends with a size limit such as "!10m", which RFC 9989 removed. */
  readonly isSized: boolean;
};

export type DmarcRecord = {
  readonly text: string;
  readonly tags: readonly ListTag[];
  readonly strays: readonly string[];
  readonly p: DmarcPolicy | "invalid" | undefined;
  readonly sp: DmarcPolicy | "invalid" | undefined;
  readonly np: DmarcPolicy | "invalid" | undefined;
  readonly psd: "y" | "n" | "u";
  readonly isTesting: boolean;
  /** rua=: the recipients of aggregate reports (RFC 9990). */
  readonly reports: readonly ReportAddress[];
  /** ruf=: the recipients of a report of each failure (RFC 9991). */
  readonly failureReports: readonly ReportAddress[];
  readonly repeatedTags: readonly string[];
};

/** RFC 9989 §4.7: a record starts with exactly this version. The tag's name is not case sensitive; its value is. */
const VERSION = /^[vV][\t ]*=[\t ]*DMARC1[\t ]*(?:;|$)/;

export const isDmarc = (text: string): boolean => VERSION.test(text);

/** Tells whether a text was meant as a DMARC record, although receivers ignore it. */
export const isIntendedAsDmarc = (text: string): boolean =>
  !isDmarc(text) && (/dmarc1/i.test(text) || /^\W*v\s*=\W*dmarc/i.test(text)) && !isSpf(text);

export const parseDmarc = (text: string): DmarcRecord => {
  const list = parseTagList(text);
  const tags = list.tags.map(({ name, value }) => ({ name: name.toLowerCase(), value }));
  const valueOf = (name: string) => tags.find((tag) => tag.name === name)?.value;
  const psd = valueOf("psd")?.toLowerCase();
  return {
    text,
    tags,
    strays: list.strays,
    p: toPolicy(valueOf("p")),
    sp: toPolicy(valueOf("sp")),
    np: toPolicy(valueOf("np")),
    psd: psd === "y" || psd === "n" ? psd : "u",
    isTesting: valueOf("t")?.toLowerCase() === "y",
    reports: parseReports(valueOf("rua")),
    failureReports: parseReports(valueOf("ruf")),
    repeatedTags: listRepeated(tags.map(({ name }) => name)),
  };
};

export const findTag = ({ tags }: DmarcRecord, name: string): string | undefined =>
  tags.find((tag) => tag.name === name)?.value;

/** Receivers that still obey pct apply the policy to all mail when its value is not a percentage (RFC 7489 §6.3). */
export const isPartial = (pct: string): boolean => /^\d{1,3}$/.test(pct) && Number(pct) < 100;

const toPolicy = (value: string | undefined): DmarcPolicy | "invalid" | undefined => {
  if (value === undefined) return undefined;
  return POLICIES.find((policy) => policy === value.toLowerCase()) ?? "invalid";
};

const parseReports = (uris: string | undefined): readonly ReportAddress[] =>
  (uris ?? "")
    .split(",")
    .map((uri) => uri.trim())
    .filter((uri) => uri !== "")
    .map(readUri);

const SIZE = /!\d+[kmgt]?$/i;
const SCHEME = /^([a-z][a-z\d+.-]*):\S+$/i;

/** RFC 9989 §4.8 allows any URI, but receivers need to support only mailto:. */
const readUri = (written: string): ReportAddress => {
  const uri = written.replace(SIZE, "");
  const isSized = uri !== written;
  const scheme = SCHEME.exec(uri)?.[1]?.toLowerCase();
  if (scheme !== "mailto") return { uri, domain: null, isValid: scheme !== undefined, isSized };
  const mailbox = uri.slice("mailto:".length).split("?")[0] ?? "";
  const at = mailbox.lastIndexOf("@");
  const parsed = at > 0 ? parseDomain(mailbox.slice(at + 1)) : undefined;
  const domain = parsed && isDomain(parsed) ? parsed.ascii : null;
  return { uri, domain, isValid: domain !== null, isSized };
};
