// Replaces core's imports from node:url in a browser (by build.ts). A browser makes A-labels of a URL's host, but cannot convert them back,
// which needs Punycode (RFC 3492) for each label.

export const domainToASCII = (domain: string): string => {
  const url = `http://${domain}`;
  return URL.canParse(url) ? new URL(url).hostname : "";
};

export const domainToUnicode = (domain: string): string =>
  domainToASCII(domain)
    .split(".")
    .map((label) => (label.startsWith("xn--") ? toUnicodeLabel(label) : label))
    .join(".");

/** An A-label that does not round-trip through its U-label stays as it is. */
const toUnicodeLabel = (label: string): string => {
  const decoded = decodeLabel(label.slice("xn--".length));
  return decoded !== undefined && domainToASCII(decoded) === label ? decoded : label;
};

const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const FIRST_BIAS = 72;
const FIRST_CODE = 0x80;

/** Adapts the bias as RFC 3492 §6.1 defines it. */
const adaptBias = (delta: number, points: number, isFirst: boolean): number => {
  let left = isFirst ? Math.floor(delta / DAMP) : delta >> 1;
  left += Math.floor(left / points);
  let k = 0;
  for (; left > ((BASE - T_MIN) * T_MAX) >> 1; k += BASE) left = Math.floor(left / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * left) / (left + SKEW));
};

/** The digits of Punycode: a to z are 0 to 25, 0 to 9 are 26 to 35. */
const toDigit = (code: number): number => (code >= 0x61 ? code - 0x61 : code - 0x30 + 26);

/** RFC 3492 §6.2. Undefined if no label encodes to this text. */
const decodeLabel = (text: string): string | undefined => {
  const lastHyphen = text.lastIndexOf("-");
  const codes = Array.from({ length: Math.max(0, lastHyphen) }, (_, at) => text.charCodeAt(at));
  let [code, bias, index] = [FIRST_CODE, FIRST_BIAS, 0];
  for (let at = lastHyphen + 1; at < text.length; ) {
    const before = index;
    for (let weight = 1, k = BASE; ; k += BASE) {
      if (at >= text.length) return undefined;
      const digit = toDigit(text.charCodeAt(at++));
      index += digit * weight;
      const threshold = Math.min(T_MAX, Math.max(T_MIN, k - bias));
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const points = codes.length + 1;
    bias = adaptBias(index - before, points, before === 0);
    code += Math.floor(index / points);
    if (code > 0x10_ff_ff) return undefined;
    index %= points;
    codes.splice(index++, 0, code);
  }
  return String.fromCodePoint(...codes);
};
