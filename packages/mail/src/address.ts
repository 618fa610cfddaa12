import { parseLiteral } from "./address-literal.ts";
import { parseDomain } from "./domain.ts";
import { countOctets } from "./octets.ts";
import {
  createFault,
  findAsciiFault,
  findLocalUnicodeFault,
  isAscii,
  type SyntaxFault,
  TEXT_UNITS_MAX,
} from "./syntax.ts";

export type Address = {
  /** The SMTP form: in NFC (RFC 6530 §10.1), and quoted only when it must be. */
  readonly local: string;
  readonly domain: string;
  readonly literal: string | null;
  /** The form for people: U-labels, and the local part in its original case. */
  readonly display: string;
  /** The key for dedupe and cache, in lower case. Hardly any server distinguishes case in a local part, though RFC 5321 §2.4 allows it. */
  readonly canonical: string;
  /** RFC 6531. A domain never needs SMTPUTF8, because it is sent as A-labels. */
  readonly needsSmtpUtf8: boolean;
};

export type AddressFault = SyntaxFault;

/** A text that should be an address, with its parsed form: parsed once on arrival, and passed on. */
export type AddressText = {
  readonly text: string;
  readonly address: Address | null;
  readonly fault: AddressFault["fault"] | null;
  /** Equal for every spelling of an address; for a text that is not an address, the text in lower case. */
  readonly canonical: string;
};

export const getDomain = (address: string): string => address.slice(address.lastIndexOf("@") + 1);

const ADDRESS_OCTETS_MAX = 254; // RFC 5321 §4.5.3.1.3: a path of 256 with its < and >
/** RFC 5321 §4.5.3.1.1: every server must accept this length; it may refuse more. */
const LOCAL_OCTETS_ASSURED = 64;
/** Some large services make names of up to about a hundred octets, and their servers accept them (docs/design/verdicts.md). */
const LOCAL_OCTETS_MAX = 127;

/**
 * Parses the Mailbox of RFC 5321 §4.1.2 with RFC 6531, and not the addr-spec of RFC 5322: comments, folding white space and words that mix
 * quoted and plain parts belong to headers, and no server accepts them in RCPT. The parser removes white space around the address, one pair
 * of angle brackets and `mailto:`, and repairs nothing else.
 */
export const parseAddress = (text: string): Address | AddressFault => {
  if (text.length <= ORDINARY_LENGTH_MAX && ORDINARY.test(text)) return parseOrdinary(text);
  const trimmed = text.trim();
  if (trimmed.length > TEXT_UNITS_MAX) return createFault("syntax.too_long");
  // NFC comes first, because it turns a few characters beyond ASCII into characters of the grammar (U+037E is ";").
  const bare = unwrap(isAscii(trimmed) ? trimmed : trimmed.normalize("NFC"));
  if (bare === "") return createFault("syntax.empty");

  const parts = bare.startsWith('"') ? splitQuoted(bare) : splitPlain(bare);
  if ("fault" in parts) return parts;
  const { local, afterAt } = parts;
  if (countOctets(local) > LOCAL_OCTETS_MAX) return createFault("syntax.local_too_long");
  if (afterAt.includes("@")) return createFault("syntax.at_repeated");

  const host = afterAt.startsWith("[") ? parseHostLiteral(afterAt) : parseDomain(afterAt);
  return "fault" in host ? host : assemble(local, host);
};

// Matches nearly every real address, which is its own display and canonical form. It is too short to break a limit of length; it has no two
// hyphens together, so no A-labels; its last label has letters only.
const ORDINARY_LENGTH_MAX = 64;
const ORDINARY =
  /^[a-z0-9!#$%&'*+\-/=?^_`{|}~]+(?:\.[a-z0-9!#$%&'*+\-/=?^_`{|}~]+)*@(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+$/;

const parseOrdinary = (text: string): Address => {
  const at = text.indexOf("@");
  return {
    local: text.slice(0, at),
    domain: text.slice(at + 1),
    literal: null,
    display: text,
    canonical: text,
    needsSmtpUtf8: false,
  };
};

export const isAddress = <F extends { readonly fault: string }>(
  parsed: Address | F,
): parsed is Address => !("fault" in parsed);

export const hasLongLocal = ({ local }: Pick<Address, "local">): boolean =>
  countOctets(local) > LOCAL_OCTETS_ASSURED;

export const toSmtpForm = ({ local, domain }: Address): string => `${local}@${domain}`;

type ParsedHost = { readonly ascii: string; readonly display: string; readonly literal?: string };
type AddressParts = { readonly local: string; readonly afterAt: string };

const assemble = (local: string, host: ParsedHost): Address | AddressFault => {
  const domain = `${local}@${host.ascii}`;
  if (countOctets(domain) > ADDRESS_OCTETS_MAX) return createFault("syntax.too_long");
  const needsSmtpUtf8 = !isAscii(local);
  const lower = local.toLowerCase();
  // The lower case needs NFC again: J with a caron is two characters, and its lower case is one character.
  const folded = needsSmtpUtf8 ? lower.normalize("NFC") : lower;
  const display = host.display === host.ascii ? domain : `${local}@${host.display}`;
  return {
    local,
    domain: host.ascii,
    literal: host.literal ?? null,
    display,
    canonical: `${folded}@${host.ascii}`,
    needsSmtpUtf8,
  };
};

const MAILTO = /^mailto:/i;

const unwrap = (text: string): string => {
  const inside = removeBrackets(text);
  if (!MAILTO.test(inside)) return inside;
  const plain = inside.slice("mailto:".length);
  return inside === text ? removeBrackets(plain) : plain;
};

const removeBrackets = (text: string): string =>
  text.startsWith("<") && text.endsWith(">") ? text.slice(1, -1) : text;

const ATEXT = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\w!#$%&'*+\-/=?^`{|}~]/.test(String.fromCharCode(code)) ? 1 : 0,
);
const AT = 0x40;
const DOT = 0x2e;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const splitPlain = (text: string): AddressParts | AddressFault => {
  const at = text.indexOf("@");
  if (at === -1) return createFault("syntax.no_at");
  if (at === 0) return createFault("syntax.local_empty");
  const local = text.slice(0, at);
  return findDotStringFault(local) ?? { local, afterAt: text.slice(at + 1) };
};

const findDotStringFault = (local: string): AddressFault | undefined => {
  let previous = DOT;
  let highest = 0;
  for (let index = 0; index < local.length; index += 1) {
    const code = local.charCodeAt(index);
    if (code > highest) highest = code;
    if (code === DOT && previous === DOT) return createFault("syntax.local_dots");
    if (code < 0x80 && code !== DOT && ATEXT[code] !== 1) return findLocalFault(code);
    previous = code;
  }
  if (previous === DOT) return createFault("syntax.local_dots");
  return highest < 0x80 ? undefined : findLocalUnicodeFault(local);
};

const findLocalFault = (code: number): AddressFault =>
  findAsciiFault(
    code,
    code === QUOTE || code === BACKSLASH ? "syntax.local_quote" : "syntax.local_character",
  );

// RFC 6531 allows characters beyond ASCII in the string, but not after a backslash.
const QUOTED = /^"((?:[^"\\]|\\[ -~])*)"/;
const ESCAPED = /\\(.)/g;
const TO_ESCAPE = /["\\]/g;

/** Quoted-string = DQUOTE *QcontentSMTP DQUOTE. It may be empty, and may contain an @. */
const splitQuoted = (text: string): AddressParts | AddressFault => {
  const [whole, inside] = QUOTED.exec(text) ?? [];
  if (whole === undefined || inside === undefined) return createFault("syntax.local_quote");
  if (whole.length === text.length) return createFault("syntax.no_at");
  const next = text.charCodeAt(whole.length);
  if (next !== AT) return findAsciiFault(next, "syntax.local_quote");

  const meant = inside.replaceAll(ESCAPED, "$1");
  const fault = findQuotedFault(meant);
  return fault ?? { local: quoteIfNeeded(meant), afterAt: text.slice(whole.length + 1) };
};

const findQuotedFault = (meant: string): AddressFault | undefined => {
  for (let index = 0; index < meant.length; index += 1) {
    const code = meant.charCodeAt(index);
    if (code < 0x20 || code === 0x7f) return findAsciiFault(code, "syntax.control");
  }
  return findLocalUnicodeFault(meant);
};

// RFC 5321 §4.1.2: a quoted form means the same as the plain form, which should be preferred.
const quoteIfNeeded = (meant: string): string =>
  !findDotStringFault(meant) ? meant : `"${meant.replaceAll(TO_ESCAPE, "\\$&")}"`;

const LITERAL = /^\[([^[\]()\s]*)\]$/;

const parseHostLiteral = (text: string): ParsedHost | AddressFault => {
  const [, inside] = LITERAL.exec(text) ?? [];
  if (inside === undefined) return findFaultAround(text);
  const found = parseLiteral(inside);
  if (!found) return createFault("syntax.literal");
  const ascii = found.version === 4 ? `[${found.ip}]` : `[IPv6:${found.ip}]`;
  return { ascii, display: ascii, literal: found.ip };
};

const findFaultAround = (literal: string): AddressFault => {
  if (/[()]/.test(literal)) return createFault("syntax.comment");
  return createFault(/\s/.test(literal) ? "syntax.white_space" : "syntax.literal");
};
