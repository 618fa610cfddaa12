import {
  type CheckOfMailServer,
  checksSkipped,
  isDomainExistenceKnown,
  STATUSES,
  type Verification,
} from "@mailproof/core/verify/result";
import * as v from "valibot";
import { Integer, Share } from "./common.ts";
import { omitNull } from "./omit-null.ts";

const Bool = v.boolean();

const WIRE_NAMES = {
  smtpCheck: "smtp_check",
  mailboxExists: "mailbox_exists",
  catchAll: "catch_all",
} as const satisfies Record<CheckOfMailServer, string>;

/** A verification result as every way out of the service shows it: an answer, a row, a line of the command. */
export const VerificationResult = v.object({
  email: v.string(),
  status: v.picklist(STATUSES),
  quality_score: v.pipe(Integer, v.minValue(0), v.maxValue(100)),
  reason: v.string(),
  sub_status: v.nullable(v.string()),
  provider: v.nullable(v.string()),
  verification: v.object({
    syntax_valid: Bool,
    domain_exists: v.optional(Bool),
    mx_found: Bool,
    smtp_check: Bool,
    mailbox_exists: Bool,
    catch_all: Bool,
  }),
  flags: v.object({
    disposable: Bool,
    role_account: Bool,
    free_provider: Bool,
    spam_trap: Bool,
    honeypot: Bool,
    bot_generated: Bool,
  }),
  enrichment: v.object({
    first_name: v.nullable(v.string()),
    last_name: v.nullable(v.string()),
    full_name: v.string(),
    gender: v.string(),
  }),
  ai: v.optional(
    v.object({
      typo_suggestion: v.nullable(v.string()),
      typo_confidence: v.nullable(Share),
      catch_all_confidence: v.optional(Share),
    }),
  ),
  evidence: v.optional(v.record(v.string(), v.unknown())),
  checks_skipped: v.optional(v.array(v.picklist(Object.values(WIRE_NAMES)))),
  verified_at: v.string(),
});

export type VerificationResult = v.InferOutput<typeof VerificationResult>;

export const toWire = (one: Verification): VerificationResult => {
  const { verification, flags, enrichment, ai, evidence } = one;
  const skipped = checksSkipped(one).map((check) => WIRE_NAMES[check]);
  return {
    email: one.email,
    status: one.status,
    quality_score: one.score,
    reason: one.reason,
    sub_status: one.subStatus,
    provider: one.provider,
    verification: {
      syntax_valid: verification.syntaxValid,
      ...(isDomainExistenceKnown(one) && { domain_exists: verification.domainExists }),
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
