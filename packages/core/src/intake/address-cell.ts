import { type Address, type AddressFault, isAddress, parseAddress } from "../mail/address.ts";
import { TEXT_UNITS_MAX } from "../mail/syntax.ts";

// An e-mail cell as people fill it: `Ada Lovelace <ada@example.org>`, `mailto:ada@example.org?subject=hi`, a semicolon
// behind it, a character around it that nobody can see. Two different addresses are a fault: no rule says which of
// them the row is about.

export const SEVERAL_ADDRESSES = {
  fault: "several_addresses",
  message: "There are several addresses in this cell. Give each a row of its own.",
} as const;

export type CellFault = AddressFault | typeof SEVERAL_ADDRESSES;

/** Of a row that has no cells any more (csv-reader.ts). */
export const ROW_TOO_LONG = {
  fault: "row_too_long",
  message: "The row is longer than 524,288 bytes, or has more than 16,384 cells.",
} as const;

/** The one address in a cell of a list. */
export const parseAddressCell = (cell: string): Address | CellFault => {
  const parsed = parseAddress(cell);
  // Nearly every cell is an address or holds none, and is read once.
  if (isAddress(parsed) && !parsed.local.includes("%")) return parsed;
  return cell.includes("@") && cell.length <= TEXT_UNITS_MAX ? parseLenient(cell, parsed) : parsed;
};

/** Whether a cell shows that its column is one of addresses. */
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
  // Nothing but the address, perhaps twice. "ada@example.org, Ada" may be a name, or a slip.
  const [onlyAddress] = addresses;
  return onlyAddress && addresses.length === parts.length ? onlyAddress : nameAddress;
};

/** White space, characters that nobody can see, and the separators of a list that was cut. */
const EDGE = /[\s\p{Cf}\p{Default_Ignorable_Code_Point},;]/u;

const trimEdges = (text: string): string => {
  let [from, to] = [0, text.length];
  while (from < to && EDGE.test(text[from] ?? "")) from += 1;
  while (from < to && EDGE.test(text[to - 1] ?? "")) to -= 1;
  return text.slice(from, to);
};

/** `Ada Lovelace <ada@example.org>`: whatever stands before the brackets is a name (RFC 5322 §3.4). */
const ANGLE_ADDRESS = /^[^<>]*<([^<>]+)>$/;

const SEPARATORS = /[\s,;<>|/]+/;

const MAILTO = /^mailto:([^?]*)(?:\?.*)?$/is;

/** RFC 6068: the address of a mailto URI is percent-encoded, and headers may stand behind it. */
const parseMailto = (text: string): Address | AddressFault => {
  const address = MAILTO.exec(text)?.[1];
  if (address === undefined) return parseAddress(text);
  try {
    return parseAddress(decodeURIComponent(address));
  } catch {
    return parseAddress(address);
  }
};
