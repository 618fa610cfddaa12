import { type Address, hasLongLocal } from "./address.ts";
import { findUp } from "./lists/find-up.ts";

/** The reason of a result for a name that the provider never gave, and where the provider publishes its rules. */
export type UngivenName = { readonly reason: string; readonly source: string };

type NameRule = UngivenName & {
  /** These exact domains. A company's domain at the same provider has other rules. */
  readonly domains: readonly string[];
  /** Every character that a name may have, in lower case. What it does not match was never given to anyone. */
  readonly name: RegExp;
  /** What separates a tag that its owner chose, which may have any character. */
  readonly tag: string;
  /** Characters that do not count. */
  readonly ignored: string;
  /** The length that names have today. Older ones may differ, so it is a hint and no proof. */
  readonly length: { readonly least: number; readonly most: number };
};

/**
 * What providers publish of the names that they give. Only what holds for every name that was ever given is here, so
 * three providers are not. Yahoo: its rules for Nokia Mail (a copy of nokia.com, FA134980) let a name start with a digit,
 * say that older ones were less strict, and its disposable addresses have a hyphen (mailgun/flanker #6). Outlook.com:
 * names that start with a digit exist though new ones may not (mailgun/flanker #60, #85). iCloud publishes the length
 * of an alias and no characters (support.apple.com/HT202316), and Hide My Email makes names of other kinds.
 */
const NAME_RULES: readonly NameRule[] = [
  {
    // "Create a username", copies read 2026-11: 6 to 30 letters, digits and periods, and none of & = _ ' - + , < >.
    // Names of three to five letters were given early. `mailer-daemon` is Google's own sender.
    reason: "not_a_gmail_name",
    source: "https://support.google.com/mail/answer/9211434",
    domains: ["gmail.com", "googlemail.com"],
    name: /^(?:[a-z0-9.]+|mailer-daemon)$/,
    tag: "+",
    ignored: ".",
    length: { least: 6, most: 30 },
  },
];

/** Why the provider cannot have given this name; null where that is not proven. */
export const findUngivenName = (address: Address): UngivenName | null => {
  const rule = findNameRule(address);
  if (!rule || rule.name.test(getName(address, rule))) return null;
  const { reason, source } = rule;
  return { reason, source };
};

/** Whether the name is shorter or longer than those that the provider gives today. */
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
 * Services that write an order, a thread or a signature into the name and take their own answers: addresses of theirs,
 * and where they were seen. Every subdomain counts.
 */
const LONG_NAMES: ReadonlyMap<string, string> = new Map([
  ["reply.github.com", "skeggse/isemail #13: 84 octets"],
  ["mail.asana.com", "skeggse/isemail #13: 98 octets"],
  ["substack.com", "validatorjs/validator.js #1961: 84 octets"],
]);

/** Whether the name is longer than every server must take (RFC 5321 §4.5.3.1.1), and what is known of its server. */
export const findLongName = (address: Address): "untried" | "taken" | null => {
  if (!hasLongLocal(address)) return null;
  return findUp(address.domain, (at) => LONG_NAMES.get(at)) === undefined ? "untried" : "taken";
};
