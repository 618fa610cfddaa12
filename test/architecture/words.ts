/** A word that was replaced. `where`: names alone, or texts too. `except`: phrases in which the word has another, ordinary meaning. */
export type OldWord = {
  readonly word: RegExp;
  readonly say: string;
  readonly where: "names" | "everywhere";
  readonly except?: RegExp;
};

const everywhere = (word: RegExp, say: string, except?: RegExp): OldWord => ({
  word,
  say,
  where: "everywhere",
  ...(except && { except }),
});
const inNames = (word: RegExp, say: string, except?: RegExp): OldWord => ({
  word,
  say,
  where: "names",
  ...(except && { except }),
});

/** Words that no description of the API has: a search would not find them (rule: plain API-reference English). */
export const ODD_IN_DESCRIPTIONS =
  /\b(?:whose|whoever|somebody|nobody|toothless|told|tells|came of|comes to|asked for|look-up by)\b/i;

/** docs/glossary.md has the words that stand in their place. Names are compared word by word: `openHouse` is "open house". */
export const OLD_WORDS: readonly OldWord[] = [
  everywhere(/\b(in)?houses?\b/, "app", /house numbers?|front[-. ]of[-. ]house|frontofhouse/),
  everywhere(/\bwish(es)?\b/, "request, options"),
  everywhere(/\b(told|telling)\b/, "result, reported"),
  inNames(/\btells?\b/, "notify, report"),
  // Postfix quotes with `said:`.
  everywhere(
    /\b(heard|said)\b/,
    "reply, response",
    /\] said:(?: \d|")|said: \[5|said by corporate/,
  ),
  // A field of a blocklist's listing, in the API and in the lists.
  inNames(
    /\bsays\b/,
    "reply",
    /\bsays: (?:describe|meaning|\s*, (?:severity|url))|name, says, listed/,
  ),
  inNames(/\bcame\b/, "result, outcome"),
  everywhere(/\bwhat came\b/, "the result"),
  everywhere(/\bdoors?\b/, "port, adapter"),
  // A role word.
  everywhere(/\bdesks?\b/, "host queue", /info\.desk|"desk"/),
  inNames(/\boperators\b/, "mail provider (the operator runs the service)"),
  inNames(/\b(places?|spots?|lanes?)\b/, "slot"),
  everywhere(
    /\b(a|no|free|each|take|takes|leave|leaves|hold|holds|wait for a) place\b/,
    "slot",
    /takes? place/,
  ),
  inNames(/\b(rests?|strains?|breath)\b/, "backoff, failures, cooldown"),
  everywhere(/\b(at|a|its|the) rests?\b/, "backoff", /the rest of|the rest\b/),
  inNames(/\b(heed|attend)s?\b/, "recordOutcome, applyBackoff"),
  everywhere(/\b(strangers?|decoys?)\b/, "random recipient; anyone outside"),
  everywhere(
    /\b(nobody|somebody|anybody|whoever)\b/,
    "a subject that one can point at",
    // The lab's address that does not exist, a reason of the contract, and texts that are no address.
    /nobody,nobody|nobody;invalid|nobody@|`nobody`|"nobody(?:'s)?"|[;/]nobody|:nobody\||nobody accepted|nobody\$\{|nobody-has|nobody\.corp|nobody <|job of nobody|nobody\.csv/,
  ),
  everywhere(/\bwho asks\b/, "the caller"),
  everywhere(/\bput off\b/, "deferred", /,put off`/),
  everywhere(/\b(given|gives|paid|pays) back\b/, "refunded, released"),
  everywhere(
    /\bannounc(e|es|ed|ing)\b/,
    "emit",
    /server announces|announces (PIPELINING|SIZE|8BITMIME|STARTTLS)|EHLO/i,
  ),
  inNames(/\bnews\b/, "outbox event", /news@/),
  everywhere(/\bpretend(s|ed|ing)?\b/, "sandbox, simulated"),
  inNames(/\b(known|keep known)\b/, "result cache", /not known/),
  // `kept` is a money outcome in responses.
  inNames(/\bkept\b/, "retained, stored", /^ *kept: /),
  inNames(/\bground\b/, "base context"),
  everywhere(
    /\bseal(s|ed|ing)?\b/,
    "encrypt, sign, stamp",
    // A setting of operators. ARC-Seal is a field of RFC 8617.
    /SEALING_KEY|sealing_key|sealing key|arc[- ]seals?/i,
  ),
  inNames(/\b(together|moments?|facts?)\b/, "the thing's own name"),
  inNames(/\bmanner\b/, "effect"),
  everywhere(/\bpour(s|ed|ing)?\b/, "pipe"),
  // A field of the audit's log and response.
  everywhere(/\blaws?\b/, "invariant", /\blaw: /),
  everywhere(/\b(storm|weather|drizzle|fleet)\b/, "simulation, run, smoke, cluster"),
];
