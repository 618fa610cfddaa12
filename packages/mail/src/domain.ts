import { domainToASCII, domainToUnicode } from "node:url";
import {
  createFault,
  findAsciiFault,
  findUnicodeFault,
  isAscii,
  type SyntaxFault,
  TEXT_UNITS_MAX,
} from "./syntax.ts";

export type DomainFault = SyntaxFault;
/** `ascii` is letters, digits and hyphens in lower case and nothing else; `display` has U-labels. */
export type Domain = { readonly ascii: string; readonly display: string };

// The 255 octets on the wire (RFC 1035 §2.3.4) include a length octet for each label and one for the root.
const DOMAIN_OCTETS_MAX = 253;
const LABEL_OCTETS_MAX = 63;

const A_LABEL = /(?:^|\.)xn--/;
const NUMERIC_LAST_LABEL = /\.[0-9]+$/;
// RFC 5891 §4.2.3.1. The A-label of such a label looks sound, so only the U-label shows the fault.
const MISPLACED_HYPHEN = /^-|^..--|-$/u;
// UTS 46 knows where a script needs a joiner, and drops the selector that only requests a coloured emoji.
const JOINERS = /[\u200c\u200d]|(?<=\p{Extended_Pictographic})\ufe0f/gu;

/**
 * Parses a domain name that a public mail host can have. Faults are: a dot at the end, which SMTP does not use (RFC 5321 §2.3.5); a single
 * label, which no mail host has; a number as the last label (RFC 3696 §2), mostly an IP address without its brackets; an underscore, which
 * DNS allows but host names do not.
 */
export const parseDomain = (text: string): Domain | DomainFault => {
  if (text === "") return createFault("syntax.domain_empty");
  if (text.length > TEXT_UNITS_MAX) return createFault("syntax.domain_too_long");
  if (!isAscii(text)) return parseUnicode(text);
  const fault = findHostNameFault(text);
  if (fault) return fault;
  const ascii = text.toLowerCase();
  return A_LABEL.test(ascii) ? toDomain(ascii) : { ascii, display: ascii };
};

// No field for a domain needs a longer part of a URL.
const TYPED_UNITS_MAX = 2_000;
const SURROUNDING = /^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu;
const SCHEME = /^(?:[a-z][a-z0-9+.-]*:)?\/\//i;
const PORT = /:\d{0,5}$/;
// The last three are dots of other scripts, which UTS 46 reads as dots.
const FINAL_DOT = /[.\u3002\uff0e\uff61]$/;

/**
 * Parses a domain as people type or paste it: with white space around it, as a URL with user, port and path, with the root's dot at its
 * end, in capitals, in U-labels or A-labels. The rest must be a domain. A bare `ann@example.com` is an address and a fault here; `www.` is
 * part of the name and stays.
 */
export const parseTypedDomain = (text: string): Domain | DomainFault => {
  if (text.length > TYPED_UNITS_MAX) return createFault("syntax.domain_too_long");
  const trimmed = text.replaceAll(SURROUNDING, "");
  const [authority = ""] = trimmed.replace(SCHEME, "").split(/[/?#]/, 1);
  const host = SCHEME.test(trimmed) ? authority.slice(authority.lastIndexOf("@") + 1) : authority;
  return parseDomain(host.replace(PORT, "").replace(FINAL_DOT, ""));
};

export const isDomain = (parsed: Domain | DomainFault): parsed is Domain => "ascii" in parsed;

export const toUnicode = (ascii: string): string => domainToUnicode(ascii) || ascii;

/** Returns the name after `www.`, where a company's mail usually is; undefined for any other name. */
export const removeWww = (ascii: string): string | undefined => {
  const bare = ascii.startsWith("www.") ? ascii.slice("www.".length) : "";
  return bare.includes(".") ? bare : undefined;
};

// domainToASCII parses the host of a URL: it would decode "%61", cut at "/", drop tabs and turn 0x7f.1 into an IP address. Therefore it
// gets only characters that a name may have, and its result is checked like any name.
const parseUnicode = (text: string): Domain | DomainFault => {
  const fault = findForbiddenCharacter(text) ?? findUnicodeFault(text.replaceAll(JOINERS, ""));
  if (fault) return fault;
  const ascii = domainToASCII(text);
  // Some characters expand to several, which may include forbidden ones: "⑴" is "(1)".
  if (ascii === "" || findForbiddenCharacter(ascii)) return createFault("syntax.idna");
  return findHostNameFault(ascii) ?? toDomain(ascii);
};

const findForbiddenCharacter = (text: string): SyntaxFault | undefined => {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x80 && code !== DOT && !isLetterDigitHyphen(code))
      return findAsciiFault(code, "syntax.domain_character");
  }
  return undefined;
};

// An A-label counts only when encoding its U-label gives it again. Any other ("xn--a", or a label that hides a capital or a hyphen) would
// be a second name for one host, or a name that no registry can have sold.
const toDomain = (ascii: string): Domain | DomainFault => {
  const display = domainToUnicode(ascii);
  if (A_LABEL.test(display) || domainToASCII(display) !== ascii) return createFault("syntax.idna");
  const labels = display.split(".").filter((label) => !isAscii(label));
  if (NO_TOP_LEVEL.test(display)) return createFault("syntax.idna");
  if (labels.some((label) => MISPLACED_HYPHEN.test(label)))
    return createFault("syntax.label_hyphen");
  return { ascii, display };
};

/** A symbol in the top-level domain: IDNA2008 allows none anywhere, though some registries sell emoji below theirs. */
const NO_TOP_LEVEL = /[^\p{L}\p{M}\p{N}\p{Cf}.-][^.]*$/u;

const DOT = 0x2e;
const HYPHEN = 0x2d;

const isLetterDigitHyphen = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  code === HYPHEN;

/** RFC 5321 §4.1.2: Domain = sub-domain *("." sub-domain), with the limits of RFC 1035 §2.3.4. */
const findHostNameFault = (text: string): SyntaxFault | undefined => {
  let labelAt = 0;
  for (let index = 0; index <= text.length; index += 1) {
    const code = index < text.length ? text.charCodeAt(index) : DOT;
    if (code === DOT) {
      const fault = findLabelFault(text, labelAt, index);
      if (fault) return fault;
      labelAt = index + 1;
    } else if (!isLetterDigitHyphen(code)) return findAsciiFault(code, "syntax.domain_character");
  }
  if (text.length > DOMAIN_OCTETS_MAX) return createFault("syntax.domain_too_long");
  if (!text.includes(".")) return createFault("syntax.domain_no_dot");
  return NUMERIC_LAST_LABEL.test(text) ? createFault("syntax.domain_numeric") : undefined;
};

const findLabelFault = (text: string, from: number, to: number): SyntaxFault | undefined => {
  if (from === to) return createFault("syntax.domain_dots");
  if (text.charCodeAt(from) === HYPHEN || text.charCodeAt(to - 1) === HYPHEN)
    return createFault("syntax.label_hyphen");
  return to - from > LABEL_OCTETS_MAX ? createFault("syntax.label_too_long") : undefined;
};
