import {
  isDomainExistenceDecided,
  listSkippedChecks,
  type MailServerCheck,
  STATUSES,
  type Verification,
} from "@mailproof/core/verify/result";
import * as v from "valibot";
import { describe, Integer, Share } from "./common.ts";
import { omitNull } from "./omit-null.ts";

const Bool = v.boolean();

const Status = describe(
  v.picklist(STATUSES),
  "valid: deliverable. invalid: will bounce. risky: may be deliverable. unknown: could not be determined. catch_all: the domain accepts every address. disposable: a disposable address. role: a role address. spam_trap: a known spam trap.",
);

const WIRE_NAMES = {
  smtpCheck: "smtp_check",
  mailboxExists: "mailbox_exists",
  catchAll: "catch_all",
} as const satisfies Record<MailServerCheck, string>;

/** A verification result as the API, MCP, exports and the command return it. */
export const VerificationResult = v.object({
  email: describe(v.string(), "The address as it was read."),
  status: describe(Status, "The result of the verification."),
  quality_score: describe(
    v.pipe(Integer, v.minValue(0), v.maxValue(100)),
    "Quality, 0–100: 90 excellent, 70 good, 50 fair, below that poor.",
  ),
  reason: describe(v.string(), "Code for why the address has this status."),
  sub_status: describe(
    v.nullable(v.string()),
    "A finer code for the reason. Null when there is none.",
  ),
  provider: describe(v.nullable(v.string()), "The mail provider. Null when it is not recognized."),
  verification: describe(
    v.object({
      syntax_valid: describe(Bool, "True when the address is well formed."),
      domain_exists: describe(
        v.optional(Bool),
        "True when the domain exists in DNS. Left out when that is not known: the look-up failed, or none was made. `reason` or `sub_status` says why.",
      ),
      mx_found: describe(Bool, "True when the domain has a host that accepts mail."),
      smtp_check: describe(
        Bool,
        "True when the mail server gave a definite reply about this address.",
      ),
      mailbox_exists: describe(
        Bool,
        "True when the mail server accepts this address and rejects random ones.",
      ),
      catch_all: describe(Bool, "True when the mail server accepts every address of the domain."),
    }),
    "The outcome of each check.",
  ),
  flags: describe(
    v.object({
      disposable: describe(Bool, "True for a domain of a disposable-address service."),
      role_account: describe(Bool, "True for a role address, such as info@ or sales@."),
      free_provider: describe(Bool, "True for a free mail provider."),
      spam_trap: describe(Bool, "True for a known spam trap."),
      honeypot: describe(Bool, "True for an address that exists to catch harvesters."),
      bot_generated: describe(Bool, "True when the local part looks machine-generated."),
    }),
    "Kind of address.",
  ),
  enrichment: describe(
    v.object({
      first_name: describe(
        v.nullable(v.string()),
        "First name. Null when the address does not suggest one.",
      ),
      last_name: describe(
        v.nullable(v.string()),
        "Last name. Null when the address does not suggest one.",
      ),
      full_name: describe(v.string(), "First and last name. Empty when neither is known."),
      gender: describe(v.string(), "Always `unknown`."),
    }),
    "The name that the address suggests.",
  ),
  ai: describe(
    v.optional(
      v.object({
        typo_suggestion: describe(
          v.nullable(v.string()),
          "The address that was probably meant. Null when the domain receives mail or there is no likely typo.",
        ),
        typo_confidence: describe(
          v.nullable(Share),
          "Probability of the suggestion, 0–1. Null without a suggestion.",
        ),
        catch_all_confidence: describe(
          v.optional(Share),
          "Probability that the mailbox exists, 0–1. Present only when the domain accepts every address, or may: it accepted this one and was not seen to reject another.",
        ),
      }),
    ),
    "Estimates. Left out when `include_ai` is false.",
  ),
  evidence: describe(
    v.optional(v.record(v.string(), v.unknown())),
    "DNS answers, SMTP transcript and the parts of the score. Present only with `include_evidence`.",
  ),
  checks_skipped: describe(
    v.optional(v.array(v.picklist(Object.values(WIRE_NAMES)))),
    "Checks not made because the mail server was not asked. Left out when it was asked or did not have to be.",
  ),
  verified_at: describe(v.string(), "When the address was verified, ISO 8601."),
});

export type VerificationResult = v.InferOutput<typeof VerificationResult>;

export const toWire = (one: Verification): VerificationResult => {
  const { verification, flags, enrichment, ai, evidence } = one;
  const skipped = listSkippedChecks(one).map((check) => WIRE_NAMES[check]);
  return {
    email: one.email,
    status: one.status,
    quality_score: one.score,
    reason: one.reason,
    sub_status: one.subStatus,
    provider: one.provider,
    verification: {
      syntax_valid: verification.syntaxValid,
      ...(isDomainExistenceDecided(one) && { domain_exists: verification.domainExists }),
      mx_found: verification.mxFound,
      smtp_check: verification.smtpCheck,
      mailbox_exists: verification.mailboxExists,
      catch_all: verification.catchAll,
    },
    flags: {
      disposable: flags.disposable,
      role_account: flags.roleAccount,
      free_provider: flags.freeProvider,
      spam_trap: flags.spamTrap,
      honeypot: flags.honeypot,
      bot_generated: flags.botGenerated,
    },
    enrichment,
    ...(ai && {
      ai: {
        typo_suggestion: ai.typoSuggestion,
        typo_confidence: ai.typoConfidence,
        ...omitNull({ catch_all_confidence: ai.catchAllConfidence }),
      },
    }),
    ...(evidence && { evidence: evidenceToWire(evidence) }),
    ...(skipped.length > 0 && { checks_skipped: skipped }),
    verified_at: one.verifiedAt,
  };
};

const evidenceToWire = (evidence: NonNullable<Verification["evidence"]>) => ({
  dns: evidence.dns,
  mail_host: evidence.mailHost,
  ip: evidence.ip,
  reply: evidence.reply,
  rule: evidence.rule,
  catch_all: evidence.catchAll,
  transcript: evidence.transcript,
  score: evidence.score,
  lists: evidence.lists,
});
