import type { RecordedQuery } from "@mailproof/mail/dns/mail-hosts";
import type { Lists } from "@mailproof/mail/lists/lists";
import type { UngivenName } from "@mailproof/mail/name-rules";
import type { Transcript } from "@mailproof/mail/smtp/converse";
import type { Reply } from "@mailproof/mail/smtp/reply";
import * as v from "valibot";
import { describe } from "../lib/describe.ts";
import type { CatchAll } from "../smtp-pool/probe.ts";
import type { SlotReturn } from "../smtp-pool/slots/slots.ts";
import { type Judged, listUnknownChecks, UNCERTAIN_CHECKS } from "./certainty.ts";
import {
  createPublicWriter,
  type Fields,
  type PublicOf,
  toPublicSchema,
  typed,
  type ValuesOf,
} from "./fields.ts";
import type { JudgedRecord } from "./judged-record.ts";
import type { RetryCause } from "./retry.ts";
import { NOT_PROBED_REASONS } from "./unpaid-results.ts";

export const STATUSES = [
  "valid",
  "invalid",
  "risky",
  "unknown",
  "catch_all",
  "disposable",
  "role",
  "spam_trap",
] as const;

export type ScorePart = { readonly part: string; readonly points: number };

const Bool = v.boolean();
const Text = v.string();
const TextOrNull = v.nullable(Text);
const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

const StatusName = describe(
  v.picklist(STATUSES),
  "valid: deliverable. invalid: will bounce. risky: may be deliverable. unknown: could not be determined. catch_all: the domain accepts every address. disposable: a disposable address. role: a role address. spam_trap: a known spam trap.",
);

/** True when a mail server exists but was not asked. The reason may be about something else, such as a role address. */
export const isServerUnasked = ({
  reason,
  subStatus,
}: Pick<Judged, "reason" | "subStatus">): boolean =>
  NOT_PROBED_REASONS.has(reason) || NOT_PROBED_REASONS.has(subStatus);

const CHECKS = {
  syntaxValid: { schema: describe(Bool, "True when the address is well formed.") },
  domainExists: { schema: describe(Bool, "True when the domain exists in DNS.") },
  mxFound: { schema: describe(Bool, "True when the domain has a host that accepts mail.") },
  smtpCheck: {
    schema: describe(Bool, "True when the mail server gave a definite reply about this address."),
  },
  mailboxExists: {
    schema: describe(
      Bool,
      "True when the mail server accepts this address and rejects random ones.",
    ),
    column: true,
  },
  catchAll: {
    schema: describe(Bool, "True when the mail server accepts every address of the domain."),
    column: true,
  },
  unproven: {
    name: "not_known",
    schema: describe(
      v.array(v.picklist(UNCERTAIN_CHECKS)),
      "The checks next to this field that are false because their outcome is not known. Any other false means no. `reason` or `sub_status` says why.",
    ),
    isComputed: true,
    compute: (result: Judged) => listUnknownChecks(result, isServerUnasked(result)),
  },
} as const satisfies Fields;

const FLAGS = {
  disposable: {
    schema: describe(Bool, "True for a domain of a disposable-address service."),
    column: true,
  },
  roleAccount: {
    schema: describe(Bool, "True for a role address, such as info@ or sales@."),
    column: true,
  },
  freeProvider: { schema: describe(Bool, "True for a free mail provider."), column: true },
  spamTrap: { schema: describe(Bool, "True for a known spam trap.") },
  honeypot: {
    schema: describe(Bool, "True for an address that exists to catch harvesters."),
  },
  botGenerated: { schema: describe(Bool, "True when the local part looks machine-generated.") },
  // The last flag, because results store a bit for each flag in this order.
  disposableHint: {
    schema: describe(
      Bool,
      "True for a domain that only the broad lists call disposable. They also hold ordinary domains, so the hint lowers the score and never decides the status. `evidence.disposable_hint` names the lists.",
    ),
  },
  forwardingMx: {
    schema: describe(
      Bool,
      "True when the domain's mail host has no mailboxes and forwards all mail.",
    ),
  },
} as const satisfies Fields;

const PERSON_NAME = {
  first_name: {
    schema: describe(TextOrNull, "First name. Null when the address does not suggest one."),
  },
  last_name: {
    schema: describe(TextOrNull, "Last name. Null when the address does not suggest one."),
  },
  full_name: {
    schema: describe(Text, "First and last name. Empty when neither is known."),
  },
  gender: { schema: describe(Text, "Always `unknown`.") },
} as const satisfies Fields;

const AI = {
  typoSuggestion: {
    schema: describe(
      TextOrNull,
      "The address that was probably intended. Null when the domain receives mail or there is no likely typo.",
    ),
    column: true,
  },
  typoConfidence: {
    schema: describe(
      v.nullable(Share),
      "Probability of the suggestion, 0–1. Null without a suggestion.",
    ),
  },
  catchAllConfidence: {
    schema: describe(
      Share,
      "Probability that the mailbox exists, 0–1. 1: the server accepted it and rejects unknown ones. 0: the address is invalid. Otherwise an estimate from the name and the domain.",
    ),
  },
} as const satisfies Fields;

const EVIDENCE = {
  dns: { schema: typed<readonly RecordedQuery[]>() },
  mailHost: { schema: TextOrNull },
  /** The mail provider's entry in docs/receivers.md. Absent when the host's provider has no entry. */
  receiver: { schema: v.optional(Text) },
  ip: { schema: TextOrNull },
  reply: { schema: typed<Reply | null>() },
  rule: { schema: TextOrNull },
  catchAll: { schema: typed<CatchAll>() },
  transcript: { schema: typed<Transcript>() },
  /** The lists that contain the domain. Absent when the flag `disposable_hint` is false. */
  disposableHint: {
    schema: v.optional(typed<Pick<Lists["versions"][number], "source" | "version">>()),
  },
  /** The reason that the provider cannot have given the name, with the provider's page. Absent when no rule excludes the name. */
  nameRule: { schema: v.optional(typed<UngivenName>()) },
  bouncedAt: { schema: TextOrNull },
  score: { schema: typed<readonly ScorePart[]>() },
  /** The signals, which repeat the verdict without lists, DNS or a mail server. Absent in 0.2.0. */
  judged: { schema: v.optional(typed<JudgedRecord>()) },
  listsEdition: { schema: Text },
  lists: { schema: typed<Lists["versions"]>() },
} as const satisfies Fields;

/** The API reference does not list the fields of evidence, because they may change with the engine. */
const AnyEvidence = v.record(v.string(), v.unknown()) as unknown as v.GenericSchema<
  PublicOf<typeof EVIDENCE>
>;

/**
 * The result of one address: one row per field, in the order of the API. The types, the schema of the API reference, the public
 * form and the columns of files derive from this table; pack.ts stores the result.
 */
export const RESULT_FIELDS = {
  email: {
    schema: describe(Text, "The address as it was read."),
    // The list's own cell may also contain a name, or another spelling.
    column: true,
  },
  status: {
    schema: describe(StatusName, "The result of the verification."),
    column: true,
  },
  score: {
    name: "quality_score",
    schema: describe(
      v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
      "Quality, 0–100: 90 excellent, 70 good, 50 fair, below that poor.",
    ),
    column: true,
  },
  reason: {
    schema: describe(Text, "Code for why the address has this status."),
    column: true,
  },
  // A second finding if the reason is about something else: a role address may also be full.
  subStatus: {
    schema: describe(TextOrNull, "A finer code for the reason. Null when there is none."),
    column: true,
  },
  provider: {
    schema: describe(TextOrNull, "The mail provider. Null when it is not recognized."),
    column: true,
  },
  verification: {
    schema: describe(toPublicSchema(CHECKS), "The outcome of each check."),
    fields: CHECKS,
  },
  flags: {
    schema: describe(toPublicSchema(FLAGS), "Kind of address."),
    fields: FLAGS,
  },
  enrichment: {
    schema: describe(toPublicSchema(PERSON_NAME), "The name that the address suggests."),
    fields: PERSON_NAME,
  },
  ai: {
    schema: describe(
      v.optional(toPublicSchema(AI)),
      "Estimates. Left out when `include_ai` is false.",
    ),
    fields: AI,
  },
  evidence: {
    schema: describe(
      v.optional(AnyEvidence),
      "DNS answers, SMTP transcript, parts of the score; `receiver` names the mail provider, such as `google`. Only with `include_evidence`.",
    ),
    fields: EVIDENCE,
  },
  // Signed when the verdict is paid, so the result cache contains none. Absent in 0.2.0.
  receipt: {
    schema: describe(
      v.optional(Text),
      "A compact JWS (EdDSA) of this verdict, which anyone can check with the public keys of this service. Only with `include_receipt`.",
    ),
  },
  // The claims of a receipt that is signed when the row is read. Absent in 0.2.0.
  receiptClaims: { schema: typed<string | undefined>(), isPrivate: true },
  // The kind of attempt that may help later, as with greylisting and busy servers.
  retry: { schema: typed<"later" | "new_connection" | "other_host" | null>(), isPrivate: true },
  // The cause for which a later attempt may find out more. Absent when the result is final; never stored.
  retryCause: { schema: typed<RetryCause | undefined>(), isPrivate: true },
  // The time and the ticket with which the address returns for a slot. Absent when a slot was free; never stored.
  comeBack: { schema: typed<SlotReturn | undefined>(), isPrivate: true },
  // The mail provider's own waits after a throttle. Never stored.
  throttleMinutes: { schema: typed<readonly number[] | undefined>(), isPrivate: true },
  // Set when an open circuit breaker kept the address from the mail server. Never stored.
  isWithheld: { schema: typed<boolean | undefined>(), isPrivate: true },
  // The exit that a mail server greylisted: the next attempt prefers it. Never stored.
  greylistedExit: { schema: typed<string | undefined>(), isPrivate: true },
  // The provider and the exit whose refusal a witness may still disprove. Never stored.
  unproven: { schema: typed<string | undefined>(), isPrivate: true },
  verifiedAt: { schema: describe(Text, "When the address was verified, ISO 8601."), column: true },
} as const satisfies Fields;

export type Verification = ValuesOf<typeof RESULT_FIELDS>;

export type Status = Verification["status"];
export type Evidence = NonNullable<Verification["evidence"]>;

export const toPublicEvidence = createPublicWriter(EVIDENCE);

/** Every verification computes the whole result; this removes the optional parts that the request did not ask for. */
export const trimResult = (
  { ai, evidence, ...required }: Verification,
  {
    includeAi,
    includeEvidence,
  }: { readonly includeAi: boolean; readonly includeEvidence: boolean },
): Verification => ({
  ...required,
  ...(includeAi && ai && { ai }),
  ...(includeEvidence && evidence && { evidence }),
});
