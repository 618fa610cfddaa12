/** An operator's addition to a list or removal from it. Of two changes to one entry the later one counts. */
export type ListChange = {
  readonly add: boolean;
  readonly list: ChangedList;
  readonly entry: string;
};

const CHANGED_LISTS = ["disposable", "free", "role", "trap", "relay"] as const;
export type ChangedList = (typeof CHANGED_LISTS)[number];

const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}$/;
const ROLE = /^[\p{L}\p{N}]+(?:[._-][\p{L}\p{N}]+)*$/u;
const LINE = /^(?<sign>[+-])(?<list>[a-z]+)\s+(?<entry>\S.*)$/;

/**
 * Parses one change per line: "+disposable example.com", "-free example.net", "+trap someone@example.org". A # at the start of
 * the line or after a space begins a comment; any other # may be part of an address.
 */
export const parseListChanges = (text: string): readonly ListChange[] =>
  text
    .split(/\r\n|\n|\r/)
    .map((line) => line.replace(/(?:^|\s)#.*$/, "").trim())
    .flatMap((line, index) => (line === "" ? [] : [parseLine(line, index + 1)]));

const parseLine = (line: string, number: number): ListChange => {
  const { sign, list = "", entry = "" } = LINE.exec(line)?.groups ?? {};
  if (sign === undefined)
    throw new SyntaxError(
      `Line ${number} is not a change such as "+disposable example.com": ${line}`,
    );
  if (!isChangedList(list))
    throw new SyntaxError(
      `Line ${number} names the list "${list}"; there are ${CHANGED_LISTS.join(", ")}.`,
    );
  const canonical = CANONICAL[list](entry);
  if (canonical === null)
    throw new SyntaxError(`Line ${number} has an entry that ${WANTED[list]}: ${entry}`);
  return { add: sign === "+", list, entry: canonical };
};

const isChangedList = (name: string): name is ChangedList =>
  CHANGED_LISTS.some((listed) => listed === name);

const canonicalDomain = (text: string): string | null => {
  const domain = toAscii(text.replace(/\.$/, "")).toLowerCase();
  return DOMAIN.test(domain) ? domain : null;
};

/** Converts by URL's host parser, the only IDNA of the platform. ASCII names stay out of it, because it would rewrite some. */
const toAscii = (domain: string): string => {
  if (!/[^\p{ASCII}]/u.test(domain)) return domain;
  return URL.parse(`http://${domain}/`)?.hostname ?? "";
};

const canonicalTrap = (text: string): string | null => {
  const at = text.lastIndexOf("@");
  if (at < 0) return canonicalDomain(text);
  const local = text.slice(0, at).toLowerCase();
  const domain = canonicalDomain(text.slice(at + 1));
  return local === "" || /\s/.test(local) || domain === null ? null : `${local}@${domain}`;
};

/** Converts a word to the spelling of roles.ts: lower case, with a hyphen between its parts. */
const canonicalRole = (text: string): string | null => {
  const word = text.normalize("NFC").toLowerCase();
  return ROLE.test(word) ? word.replaceAll(/[._]/g, "-") : null;
};

const CANONICAL: Record<ChangedList, (entry: string) => string | null> = {
  disposable: canonicalDomain,
  free: canonicalDomain,
  relay: canonicalDomain,
  trap: canonicalTrap,
  role: canonicalRole,
};

const WANTED: Record<ChangedList, string> = {
  disposable: "is not a domain",
  free: "is not a domain",
  relay: "is not a domain",
  trap: "is neither an address nor a domain",
  role: "is not a role word",
};
