/** The IP addresses that may replace a domain in brackets (RFC 5321 §4.1.3), in one spelling each. */
export type IpAddress = { readonly version: 4 | 6; readonly ip: string };

const TAG = /^ipv6:/i;
const GROUP = /^[0-9a-f]{1,4}$/i;
const OCTET = /^[0-9]{1,3}$/;
const GROUPS = 8;

/** `text` is the text between the brackets. No tag other than IPv6 has ever been registered. */
export const parseLiteral = (text: string): IpAddress | undefined => {
  if (!TAG.test(text)) {
    const octets = parseOctets(text);
    return octets && { version: 4, ip: octets.join(".") };
  }
  const groups = parseGroups(text.replace(TAG, ""));
  return groups && { version: 6, ip: formatGroups(groups) };
};

// The grammar allows leading zeros, and the number is still decimal.
const parseOctets = (text: string): number[] | undefined => {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => OCTET.test(part))) return undefined;
  const octets = parts.map(Number);
  return octets.every((octet) => octet <= 255) ? octets : undefined;
};

// In an address literal "::" means two groups or more; RFC 4291 would also allow one group.
const parseGroups = (text: string): number[] | undefined => {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const last = halves.length - 1;
  const [head, tail] = halves.map((half, index) => parseHalf(half, index === last));
  if (!head) return undefined;
  if (last === 0) return head.length === GROUPS ? head : undefined;
  if (!tail || head.length + tail.length > GROUPS - 2) return undefined;
  return [...head, ...Array<number>(GROUPS - head.length - tail.length).fill(0), ...tail];
};

const parseHalf = (half: string, isLast: boolean): number[] | undefined => {
  if (half === "") return [];
  const parts = half.split(":");
  const octets = isLast ? parseOctets(parts.at(-1) ?? "") : undefined;
  const hex = octets ? parts.slice(0, -1) : parts;
  if (!hex.every((part) => GROUP.test(part))) return undefined;
  return [...hex.map((part) => Number.parseInt(part, 16)), ...(octets ? pairOctets(octets) : [])];
};

const pairOctets = ([a = 0, b = 0, c = 0, d = 0]: readonly number[]): number[] => [
  a * 256 + b,
  c * 256 + d,
];

/** RFC 5952: writes the first of the longest runs of zeros as "::", in lower case, and a mapped IPv4 address with dots. */
const formatGroups = (groups: readonly number[]): string => {
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return `::ffff:${groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 255])
      .join(".")}`;

  const { from, length } = findLongestZeros(groups);
  const hex = (some: readonly number[]) => some.map((group) => group.toString(16)).join(":");
  return length < 2
    ? hex(groups)
    : `${hex(groups.slice(0, from))}::${hex(groups.slice(from + length))}`;
};

const findLongestZeros = (groups: readonly number[]) => {
  let longest = { from: 0, length: 0 };
  let length = 0;
  for (const [index, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0;
    if (length > longest.length) longest = { from: index - length + 1, length };
  }
  return longest;
};
