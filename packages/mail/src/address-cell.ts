import {
  type Address,
  type AddressFault,
  type AddressText,
  isAddress,
  parseAddress,
} from "./address.ts";
import { TEXT_UNITS_MAX } from "./syntax.ts";

// Parses an address as people write it, at every entrance (a request, a form, a list's cell, the command line): `Ada Lovelace
// <ada@example.org>`, `mailto:ada@example.org?subject=hi`, with a trailing semicolon or invisible characters around it. Two different
// addresses are a fault: no rule decides which of them belongs to the row.

export const SEVERAL_ADDRESSES = {
  fault: "several_addresses",
  message: "The cell has several addresses. Put each address in its own row.",
} as const;

export type CellFault = AddressFault | typeof SEVERAL_ADDRESSES;

export const parseAddressCell = (cell: string): Address | CellFault => {
  const parsed = parseAddress(cell);
  if (isAddress(parsed) && !parsed.local.includes("%")) return parsed;
  return cell.includes("@") && cell.length <= TEXT_UNITS_MAX ? parseLenient(cell, parsed) : parsed;
};

/** Reads a text that should be an address. On a fault it returns the fault of the whole text. */
export const readAddress = (text: string): AddressText => {
  const found = parseAddressCell(text);
  if (isAddress(found)) return { text, address: found, fault: null, canonical: found.canonical };
  const whole = parseAddress(text);
  const fault = isAddress(whole) ? null : whole.fault;
  return { text, address: null, fault, canonical: text.trim().toLowerCase() };
};

export const hasAddress = (cell: string): boolean => {
  if (!cell.includes("@")) return false;
  const read = parseAddressCell(cell);
  return isAddress(read) || read.fault === SEVERAL_ADDRESSES.fault;
};

const parseLenient = (cell: string, parsed: Address | AddressFault): Address | CellFault => {
  const text = trimEdges(cell);
  const wholeText = parseMailto(text);
  if (isAddress(wholeText)) return wholeText;
  const parts = text.split(SEPARATORS).filter((part) => part !== "");
  const addresses = parts.map(parseMailto).filter(isAddress);
  if (new Set(addresses.map(({ canonical }) => canonical)).size > 1) return SEVERAL_ADDRESSES;

  const angleAddress = ANGLE_ADDRESS.exec(text)?.[1];
  const nameAddress = angleAddress === undefined ? parsed : parseMailto(angleAddress);
  if (isAddress(nameAddress)) return nameAddress;
  // The cell holds only the address, perhaps twice. The rest of "ada@example.org, Ada" may be a name or an error.
  const [onlyAddress] = addresses;
  return onlyAddress && addresses.length === parts.length ? onlyAddress : nameAddress;
};

/** White space, invisible characters, and leftover separators of a split list. */
const EDGE = /[\s\p{Cf}\p{Default_Ignorable_Code_Point},;]/u;

const trimEdges = (text: string): string => {
  let [from, to] = [0, text.length];
  while (from < to && EDGE.test(text[from] ?? "")) from += 1;
  while (from < to && EDGE.test(text[to - 1] ?? "")) to -= 1;
  return text.slice(from, to);
};

/** `Ada Lovelace <ada@example.org>`: the text before the brackets is a name, which may be quoted (RFC 5322 §3.4). */
const ANGLE_ADDRESS = /^(?:[^<>]*|(?:[^<>"]|"[^"]*")*)<([^<>]+)>$/;

const SEPARATORS = /[\s,;<>|/]+/;

const MAILTO = /^mailto:([^?]*)(?:\?.*)?$/is;

/** RFC 6068: the address of a mailto URI is percent-encoded, and headers may follow it. */
const parseMailto = (text: string): Address | AddressFault => {
  const address = MAILTO.exec(text)?.[1];
  if (address === undefined) return parseAddress(text);
  try {
    return parseAddress(decodeURIComponent(address));
  } catch {
    return parseAddress(address);
  }
};
