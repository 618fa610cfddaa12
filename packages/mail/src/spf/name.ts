const NAME_OCTETS_MAX = 253;
const LABEL_OCTETS_MAX = 63;

const LABEL_OF_HOST = /^[a-z\d](?:[a-z\d-]*[a-z\d])?$/i;
const ALL_DIGITS = /^\d+$/;
const VISIBLE = /^[!-~]+$/;

/**
 * toplabel = ( *alphanum ALPHA *alphanum ) / ( 1*alphanum "-" *( alphanum / "-" ) alphanum )
 *
 * Combines both alternatives: letters, digits and inner hyphens, and not only digits.
 */
export const isTopLabel = (label: string): boolean =>
  LABEL_OF_HOST.test(label) && !ALL_DIGITS.test(label);

/** Returns the text after the last dot; a final dot does not count (RFC 7208 §7.1). */
export const getLastLabel = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

export const removeFinalDot = (name: string): string =>
  name.endsWith(".") ? name.slice(0, -1) : name;

/**
 * Tells whether a name may have records: it has several labels, and is no IP address, with or without brackets. SPF does not restrict the
 * characters of the other labels.
 */
export const isAskable = (name: string): boolean =>
  name.length <= NAME_OCTETS_MAX &&
  name.includes(".") &&
  isTopLabel(getLastLabel(name)) &&
  name.split(".").every(({ length }) => length > 0 && length <= LABEL_OCTETS_MAX);

/** RFC 7208 §4.3: only such a name has a policy. */
export const isDomain = (name: string): boolean => isAskable(name) && VISIBLE.test(name);

/** RFC 7208 §7.3: removes whole labels from the left until the rest is short enough for a query. */
export const cutToFit = (name: string): string => {
  if (name.length <= NAME_OCTETS_MAX) return name;
  const dot = name.indexOf(".", name.length - NAME_OCTETS_MAX - 1);
  return dot === -1 ? "" : name.slice(dot + 1);
};

export const isAtOrBelow = (name: string, domain: string): boolean => {
  const [lower, above] = [name.toLowerCase(), domain.toLowerCase()];
  return lower === above || lower.endsWith(`.${above}`);
};
