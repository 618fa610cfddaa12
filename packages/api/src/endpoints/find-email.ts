import type { AppWorld } from "@mailproof/core/app-world";
import { FIND_STATUSES, type FindResult, type FindStatus } from "@mailproof/core/find/find";
import { findOnce } from "@mailproof/core/find/find-once";
import { findNameFaults, type NameFault } from "@mailproof/core/find/name-forms";
import type { Person } from "@mailproof/core/find/spelling/spell-word";
import { withMoneySentence } from "@mailproof/core/lib/failure";
import { formatCredits, toCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import { selectEngine } from "@mailproof/core/verify/sandbox";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { endpoint, ok } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { CreditsRemaining, createText, describe, Integer } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { DOMAIN_FIELDS, DomainName, toDomainFields, wwwMessage } from "../schema/sender.ts";

const NAME_LENGTH_MAX = 64;

/** A letter with a combining accent counts as one character, and so does a letter of two UTF-16 code units. */
const isNameLength = (text: string): boolean =>
  Array.from(text.normalize("NFC")).length <= NAME_LENGTH_MAX;

const Name = v.pipe(
  v.string(),
  v.check(isNameLength, `must have at most ${NAME_LENGTH_MAX} characters`),
  v.trim(),
);

export const findEmail = endpoint({
  id: "findEmail",
  route: "POST /v1/find",
  tag: "Find",
  summary: "Find a person's work address from their names and the company's mail domain.",
  price: `${formatCredits(PRICES.find)}, whatever the result; nothing when our side kept us from the mail server; repeating the search within two minutes is free, and so is a name that cannot be searched with.`,
  access: "verification:write",
  needs: ["table:readwrite", "queue:send", "mail"],
  tool: { effect: "additive", hint: "Use status: a returned email may still be a guess." },
  errors: ["INSUFFICIENT_CREDITS", "PAYLOAD_TOO_LARGE"],

  body: v.strictObject({
    first_name: describe(
      Name,
      "The person's first name, with a middle name or initial if known. Most scripts are read, but not Arabic, Hebrew or Thai.",
    ),
    last_name: describe(Name, "The person's last name."),
    domain: describe(
      DomainName,
      "The company's mail domain, such as example.com. A URL, a final dot, capitals and Unicode are accepted.",
    ),
  }),
  output: v.object({
    first_name: field.text("The first name of the request."),
    last_name: field.text("The last name of the request."),
    ...DOMAIN_FIELDS,
    email: describe(
      v.nullable(createText("email")),
      "The address found. Null when none was found, which does not mean that none exists.",
    ),
    confidence: describe(
      v.pipe(Integer, v.minValue(0), v.maxValue(100)),
      "Confidence in `email`, 0–100.",
    ),
    pattern: field.textOrNull(
      "The likely pattern of the domain's mailbox names, such as first.last. Null when it is not known.",
    ),
    verified: field.boolean("True when the mailbox was proven to exist."),
    status: describe(
      v.picklist(FIND_STATUSES),
      "The result of the search. Use this field, not the presence of `email`.",
    ),
    message: field.text("The result in a sentence."),
    credits_used: field.credits("Credits this search costs, even if it was charged before."),
    credits_remaining: CreditsRemaining,
    idempotent_replay: field.maybeBoolean(
      "True when an earlier response is repeated. Left out otherwise.",
    ),
  }),

  async handle(world, caller, { body: { first_name, last_name, domain } }) {
    assertCompany(world, caller, domain);
    const person = { first: first_name, last: last_name };
    const search = { person, domain };
    const { price, result: found, replayed, remaining } = await findOnce(world, caller, search);
    return ok({
      first_name,
      last_name,
      ...toDomainFields(domain),
      email: found.email,
      confidence: found.confidence,
      pattern: found.pattern,
      verified: found.status === "valid",
      status: found.status,
      message: [wwwMessage(domain) ?? [], messageFor(found, person, domain)].flat().join(" "),
      credits_used: caller.mode === "test" ? 0 : toCredits(price),
      ...(remaining !== undefined && { credits_remaining: toCredits(remaining) }),
      ...(replayed && { idempotent_replay: true }),
    });
  },
});

/** A mail provider has a mailbox for every name, so a found address would belong to another person. */
const assertCompany = (world: AppWorld, { mode }: Caller, domain: string): void => {
  const { lists } = selectEngine(world, mode);
  if (!lists.free(domain) && !lists.disposable(domain)) return;
  const kind = lists.disposable(domain) ? "disposable" : "free";
  throw invalidField("domain", `${domain} is a ${kind} mail provider; use the company's domain`);
};

const MESSAGES: Readonly<Record<FindStatus, string>> = {
  valid: "The mail server accepts this mailbox and rejects random ones.",
  risky: "The mail server accepts this address. It is not proven to belong to this person.",
  role: "The mail server accepts this address, but it is a role address.",
  unknown: "The mail server gave no definite reply, so the person's address is not known.",
  catch_all: "The domain accepts every address. This is the likeliest one, and it is not verified.",
  not_found: "None of the usual addresses for this name exists at this domain.",
  invalid_name: "No address can be made from the names.",
};

const NAME_FAULTS: Readonly<Record<NameFault, string>> = {
  missing: "is missing; send a first and a last name.",
  no_letters: "has no letters.",
  other_script:
    "cannot be read; write it in Latin letters. Other scripts that are read: Cyrillic, Greek, Armenian, Georgian, Devanagari, Hangul, Kana, and Han for Chinese and common Japanese names.",
};

const messageForName = (person: Person, domain: string): string => {
  const { first, last } = findNameFaults(person, domain);
  const sentences = [
    ...(first ? [`first_name ${NAME_FAULTS[first]}`] : []),
    ...(last ? [`last_name ${NAME_FAULTS[last]}`] : []),
  ];
  return withMoneySentence(sentences.join(" ") || MESSAGES.invalid_name, "nothing_charged");
};

const BY_REASON: Readonly<Record<string, string>> = {
  mailbox_full: "The mailbox exists, but is full.",
  mailbox_rate_limited: "The mailbox exists, but has reached its receiving limit.",
  one_name:
    "The mailbox exists, but has only one of the names, so it may belong to another person.",
  one_initial:
    "The mailbox exists, but has only a letter of one name, and the domain is not known to name mailboxes that way, so it may belong to another person.",
  dns_inconclusive: "The domain's DNS look-up failed, so the person's address is not known.",
  dns_answer_too_large:
    "The domain's DNS answer exceeds the size limit, so the person's address is not known.",
  domain_not_found: "The domain does not exist.",
  null_mx: "The domain does not receive mail.",
  no_mail_host: "The domain does not receive mail.",
  mx_unroutable: "The domain does not receive mail.",
};

const messageFor = ({ status, reason }: FindResult, person: Person, domain: string): string =>
  status === "invalid_name"
    ? messageForName(person, domain)
    : (BY_REASON[reason] ?? MESSAGES[status]);
