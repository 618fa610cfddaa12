import { type Address, hasLongLocal } from "./address.ts";
import { findUp } from "./lists/find-up.ts";

/** The reason of a result for a name that the provider never assigned, and the page with the provider's rules. */
export type UngivenName = { readonly reason: string; readonly source: string };

type NameRule = UngivenName & {
  /** Exactly these domains. A company's domain at the same provider has other rules. */
  readonly domains: readonly string[];
  /** Every possible name, in lower case. A name that does not match was never assigned to anyone. */
  readonly name: RegExp;
  /** The separator of a tag that the mailbox's owner chose, which may have any character. */
  readonly tag: string;
  readonly ignored: string;
  /** The length of new names. Older ones may differ, so the length is a hint and no proof. */
  readonly length: { readonly least: number; readonly most: number };
};

/**
 * The rules that providers publish for the names that they assign. The table has only rules that hold for every name ever assigned, so it
 * omits three providers. Yahoo: its rules for Nokia Mail (a copy of nokia.com, FA134980) let a name start with a digit and admit that older
 * rules were less strict, and its disposable addresses have a hyphen (mailgun/flanker #6). Outlook.com: names that start with a digit exist
 * though new names may not (mailgun/flanker #60, #85). iCloud publishes the length of an alias and no characters
 * (support.apple.com/HT202316), and Hide My Email makes names of other kinds.
 */
const NAME_RULES: readonly NameRule[] = [
  {
    // "Create a username", copies read 2026-11: 6 to 30 letters, digits and periods, and none of & = _ ' - + , < >. Early users got names
    // of three to five letters. `mailer-daemon` is Google's own sender.
    reason: "not_a_gmail_name",
    source: "https://support.google.com/mail/answer/9211434",
    domains: ["gmail.com", "googlemail.com"],
    name: /^(?:[a-z0-9.]+|mailer-daemon)$/,
    tag: "+",
    ignored: ".",
    length: { least: 6, most: 30 },
  },
];

export const findUngivenName = (address: Address): UngivenName | null => {
  const rule = findNameRule(address);
  if (!rule || rule.name.test(getName(address, rule))) return null;
  const { reason, source } = rule;
  return { reason, source };
};

export const hasUnusualLength = (address: Address): boolean => {
  const rule = findNameRule(address);
  if (!rule) return false;
  const { length } = getName(address, rule).replaceAll(rule.ignored, "");
  return length < rule.length.least || length > rule.length.most;
};

const findNameRule = ({ domain }: Address): NameRule | undefined =>
  NAME_RULES.find(({ domains }) => domains.includes(domain));

const getName = ({ local }: Address, { tag }: NameRule): string =>
  local.toLowerCase().split(tag, 1)[0] ?? "";

/**
 * Services that write an order, a thread or a signature into the name and accept the replies: their domains, and where such addresses were
 * seen. Every subdomain counts.
 */
const LONG_NAMES: ReadonlyMap<string, string> = new Map([
  ["reply.github.com", "skeggse/isemail #13: 84 octets"],
  ["mail.asana.com", "skeggse/isemail #13: 98 octets"],
  ["substack.com", "validatorjs/validator.js #1961: 84 octets"],
]);

/** Tells whether the name exceeds RFC 5321's assured length (§4.5.3.1.1), and whether its server is known to accept that. */
export const findLongName = (address: Address): "untried" | "taken" | null => {
  if (!hasLongLocal(address)) return null;
  return findUp(address.domain, (at) => LONG_NAMES.get(at)) === undefined ? "untried" : "taken";
};
