import { countOctets } from "./octets.ts";

/** Every fault of an address, with the sentence for the caller. The names are part of the contract. */
const MESSAGES = {
  "syntax.empty": "The address is empty.",
  "syntax.no_at": "The @ is missing.",
  "syntax.at_repeated": "There is more than one @.",
  "syntax.too_long": "The address is longer than 254 octets.",
  "syntax.comment": "Comments in parentheses are not part of an address in SMTP.",
  "syntax.white_space":
    "White space is allowed only in a quoted local part, and only as plain spaces.",
  "syntax.control": "The address contains a control character.",
  "syntax.invisible": "The address contains an invisible character.",
  "syntax.unicode": "The address contains a broken character.",
  "syntax.private_use": "The address contains a character that only some fonts give a meaning.",
  "syntax.combining": "A combining mark has no letter before it.",
  "syntax.local_empty": "There is nothing before the @.",
  "syntax.local_too_long": "The part before the @ is longer than 127 octets.",
  "syntax.local_character":
    "The part before the @ contains a character that must be quoted or left out.",
  "syntax.local_dots": "The part before the @ starts or ends with a dot, or has two in a row.",
  "syntax.local_quote":
    "A quoted local part is one string between two quotes, with \\ only before what it escapes.",
  "syntax.domain_empty": "The domain is missing.",
  "syntax.domain_too_long": "The domain is longer than 253 octets.",
  "syntax.domain_character": "The domain contains a character that no host name has.",
  "syntax.domain_dots": "The domain starts or ends with a dot, or has two in a row.",
  "syntax.domain_no_dot": "The domain is a single label, and no such domain takes mail.",
  "syntax.domain_numeric": "The last label of the domain is a number.",
  "syntax.label_too_long": "A label of the domain is longer than 63 octets.",
  "syntax.label_hyphen": "A label of the domain has a hyphen where none may be.",
  "syntax.idna": "The domain is not a valid internationalised domain name.",
  "syntax.literal": "Between the brackets is no IPv4 address and no IPv6 address after IPv6:.",
} as const;

export type FaultName = keyof typeof MESSAGES;
export type SyntaxFault = { readonly fault: FaultName; readonly message: string };

export const createFault = (fault: FaultName): SyntaxFault => ({ fault, message: MESSAGES[fault] });

/**
 * No address of 254 octets needs more UTF-16 units, with escapes and combining marks. The parser refuses a longer text unread: Unicode
 * normalisation is not linear in the length of a run of marks.
 */
export const TEXT_UNITS_MAX = 1_000;

const CONTROL = /[\u0080-\u009f]/;
const WHITE_SPACE = /[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
// Zero-width and bidirectional controls, fillers, tags; the blank braille pattern is a symbol by category.
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;
// U+FFFD marks bytes that a decoder lost, so the text is not the intended address.
const NO_CHARACTER = /[\p{Cs}\p{Noncharacter_Code_Point}\ufffd]/u;

// U+F8FF is an apple on one vendor's machines and a box on all others.
const PRIVATE_USE = /\p{Co}/u;
// A mark is drawn onto the character before it: at the start of a word onto the dot, the quote or the text left of the address.
const LONE_MARK = /(?:^|[."\s])\p{M}/u;

/** Every character beyond ASCII has more bytes in UTF-8 than units in UTF-16. Counting is faster than searching. */
export const isAscii = (text: string): boolean => countOctets(text) === text.length;

export const findAsciiFault = (code: number, otherwise: FaultName): SyntaxFault => {
  if (code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d)
    return createFault("syntax.white_space");
  if (code < 0x20 || code === 0x7f) return createFault("syntax.control");
  if (code === 0x28 || code === 0x29) return createFault("syntax.comment");
  return createFault(otherwise);
};

/**
 * RFC 6531 §3.3 allows every character beyond ASCII. We still reject invisible characters: forgers want two addresses that differ and look
 * alike, and otherwise such a character is an error of copy and paste.
 */
export const findUnicodeFault = (text: string): SyntaxFault | undefined => {
  if (NO_CHARACTER.test(text)) return createFault("syntax.unicode");
  if (CONTROL.test(text)) return createFault("syntax.control");
  if (WHITE_SPACE.test(text)) return createFault("syntax.white_space");
  if (PRIVATE_USE.test(text)) return createFault("syntax.private_use");
  return INVISIBLE.test(text) ? createFault("syntax.invisible") : undefined;
};

/** Names the fault of a local part, for which no registry checks combining marks. */
export const findLocalUnicodeFault = (text: string): SyntaxFault | undefined =>
  findUnicodeFault(text) ?? (LONE_MARK.test(text) ? createFault("syntax.combining") : undefined);
