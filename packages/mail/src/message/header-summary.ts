import { type FieldMailbox, getAddressDomain, parseMailboxes } from "./parse/addresses.ts";
import { decodeFieldText } from "./parse/encodings.ts";
import { findFields, findValue, getValue, type HeaderField } from "./parse/fields.ts";
import { toALabels } from "./spf.ts";

export type HeaderSummary = {
  readonly subject: string | null;
  /** The only author. Null when the message has no author, or more than one author. */
  readonly from: {
    readonly name: string;
    readonly address: string;
    readonly domain: string;
  } | null;
  readonly fromFields: number;
  readonly fromMailboxes: number;
  /** The date as ISO 8601. Null when the field is missing or invalid. */
  readonly date: string | null;
  readonly hasDate: boolean;
  readonly messageId: string | null;
  /** RFC 5322 §3.6.4: "<", a text, "@", a text, ">". */
  readonly isMessageIdValid: boolean;
  /** The fields other than From that occur more than once, although RFC 5322 §3.6 allows each only once. */
  readonly repeated: readonly string[];
  readonly hasRecipient: boolean;
  readonly isReply: boolean;
  readonly hasMimeVersion: boolean;
  readonly usesMime: boolean;
  /** Bytes beyond ASCII outside of encoded words (RFC 6532). */
  readonly isEightBit: boolean;
};

const SHOWN_MAX = 500;

/** `fromFields` counts the From fields, so From is absent here. */
const SINGLE = [
  "date",
  "sender",
  "reply-to",
  "to",
  "cc",
  "bcc",
  "message-id",
  "in-reply-to",
  "references",
  "subject",
  "mime-version",
  "content-type",
  "content-transfer-encoding",
];

const MESSAGE_ID = /^<[^\s<>@]{1,500}@[^\s<>@]{1,500}>$/;

export const readHeader = (fields: readonly HeaderField[]): HeaderSummary => {
  const fromFields = findFields(fields, "from");
  const mailboxes = fromFields.flatMap((field) => parseMailboxes(getValue(field)));
  const date = findValue(fields, "date");
  const messageId = findValue(fields, "message-id");
  const subject = findValue(fields, "subject");
  const has = (name: string) => fields.some(({ key }) => key === name);
  return {
    subject: subject === null ? null : toShown(subject),
    from: fromFields.length === 1 ? toAuthor(mailboxes) : null,
    fromFields: fromFields.length,
    fromMailboxes: mailboxes.length,
    date: date === null ? null : parseDate(date),
    hasDate: date !== null,
    messageId: messageId?.slice(0, SHOWN_MAX) ?? null,
    isMessageIdValid: MESSAGE_ID.test(messageId ?? ""),
    repeated: SINGLE.filter((name) => findFields(fields, name).length > 1),
    hasRecipient: has("to") || has("cc") || has("bcc"),
    isReply: has("in-reply-to") || has("references"),
    hasMimeVersion: has("mime-version"),
    usesMime: has("content-type") || has("content-transfer-encoding"),
    isEightBit: fields.some(({ raw }) => /[\u0080-\u00ff]/.test(raw)),
  };
};

const toShown = (value: string): string => decodeFieldText(value).slice(0, SHOWN_MAX);

/** RFC 9989 §5.3.1: several mailboxes count as one author while they have the same domain. */
const toAuthor = (mailboxes: readonly FieldMailbox[]): HeaderSummary["from"] => {
  const domains = new Set(mailboxes.map(({ address }) => toDomain(address)));
  const [first] = mailboxes;
  const [domain = ""] = domains;
  if (!first || domains.size !== 1 || domain === "") return null;
  return {
    name: toShown(first.name.replaceAll('"', "")),
    address: decodeFieldText(first.address).slice(0, SHOWN_MAX),
    domain,
  };
};

const toDomain = (address: string): string => {
  const domain = getAddressDomain(address);
  return domain === "" ? "" : toALabels(Buffer.from(domain, "latin1").toString("utf8"));
};

/** RFC 5322 §3.3, with or without the day of the week, and with the zones' old names (§4.3). */
const DATE =
  /^(?:(?:mon|tue|wed|thu|fri|sat|sun), ?)?(\d{1,2}) (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (\d{4}) (\d{2}):(\d{2})(?::(\d{2}))? ([+-]\d{4}|[a-z]{1,4})$/i;
const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const ZONES: Readonly<Record<string, number>> = {
  edt: -240,
  est: -300,
  cdt: -300,
  cst: -360,
  mdt: -360,
  mst: -420,
  pdt: -420,
  pst: -480,
};

const parseDate = (value: string): string | null => {
  const text = value
    .slice(0, SHOWN_MAX)
    .replaceAll(/\([^()]*\)/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  const [, day, month = "", year, hour, minute, second = "0", zone = ""] = DATE.exec(text) ?? [];
  if (day === undefined) return null;
  const [d, h, m, s] = [day, hour, minute, second].map(Number);
  const ms = Date.UTC(Number(year), MONTHS.indexOf(month.toLowerCase()), d, h, m, s);
  const offset = /^[+-]/.test(zone)
    ? Number(`${zone[0]}1`) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3)))
    : (ZONES[zone.toLowerCase()] ?? 0);
  return new Date(ms - offset * 60_000).toISOString();
};
