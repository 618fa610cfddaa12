import type { Address } from "./address.ts";

type NameRule = {
  /** The reason of a result for a name that the provider never gave. */
  readonly reason: string;
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
 * three providers are not. Yahoo: its rules for Nokia Mail (a copy of nokia.com, FA134980) let a name begin with a digit,
 * say that older ones were less strict, and its disposable addresses have a hyphen (mailgun/flanker #6). Outlook.com:
 * names that begin with a digit exist though new ones may not (mailgun/flanker #60, #85). iCloud publishes the length
 * of an alias and no characters (support.apple.com/HT202316), and Hide My Email makes names of other kinds.
 */
const NAME_RULES: readonly NameRule[] = [
  {
    // support.google.com/mail/answer/9211434, "Create a username", copies read 2026-11: 6 to 30 letters, digits and
    // periods, and none of & = _ ' - + , < >. Names of three to five letters were given early. `mailer-daemon` is
    // Google's own sender.
    reason: "not_a_gmail_name",
    domains: ["gmail.com", "googlemail.com"],
    name: /^(?:[a-z0-9.]+|mailer-daemon)$/,
    tag: "+",
    ignored: ".",
    length: { least: 6, most: 30 },
  },
];

/** The reason why the provider cannot have given this name; null where that is not proven. */
export const findNameFault = (address: Address): string | null => {
  const rule = findNameRule(address);
  return rule && !rule.name.test(getName(address, rule)) ? rule.reason : null;
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
