import { findActivity } from "@mailproof/core/activity/find-activity";
import { withMoneySentence } from "@mailproof/core/lib/failure";
import { formatCredits, toCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import type { World } from "@mailproof/core/ports/world";
import { HOST_DAILY_LIMIT, PROBE_POLICY } from "@mailproof/core/smtp-pool/results";
import { isServerUnasked, type Verification } from "@mailproof/core/verify/result";
import { CONTROLLED, findFreeReason } from "@mailproof/core/verify/unpaid-results";
import { type VerifyResult, verifyOnce } from "@mailproof/core/verify-one/verify-once";
import { type AddressText } from "@mailproof/mail/address";
import { readAddress } from "@mailproof/mail/address-cell";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { endpoint, ok } from "../http/endpoint.ts";
import { keyedBy } from "../http/idempotency.ts";
import { ActivityPart, toPart } from "../schema/activity.ts";
import { Charged, chargedFor } from "../schema/charged.ts";
import {
  describe,
  EmailText,
  Flag,
  optional,
  optionalOr,
  PAID_ERRORS,
  part,
} from "../schema/common.ts";
import { Control, ControlInput } from "../schema/control.ts";
import * as field from "../schema/fields.ts";
import { toWire, VerificationResult } from "../schema/verification.ts";

const WAIT_MS = { default: 10_000, least: 100, most: 25_000 };
const WAIT_WORDS = "must be a whole number of milliseconds, 0 or more";

export const verifyEmail = endpoint({
  id: "verifyEmail",
  route: "POST /v1/verify",
  tag: "Verification",
  summary: "Verify one address.",
  price: `${formatCredits(PRICES.verify)}; ${toCredits(PRICES.verifyCached)} credit when the same address was verified within 24 hours, and ${toCredits(PRICES.verifyControlled)} when \`control\` is proven; nothing for an \`unknown\` that our side causes: our limits, rules, IP address, exit or port (\`host_daily_limit\`, \`probe_policy\`, \`address_literal\`, \`no_smtp_egress\`).`,
  access: "verification:write",
  needs: ["table:readwrite", "queue:send", "mail", "https", "seal"],
  keyed: true,
  tool: {
    effect: "additive",
    hint: "When the status is pending, read the result with get_job and job_id; a new call would charge again.",
  },
  errors: [...PAID_ERRORS, "RESULT_DELETED", "REQUEST_IN_PROGRESS"],

  body: v.strictObject({
    email: describe(
      EmailText,
      "The address to verify, also as `Ada <ada@example.org>` or with `mailto:`. Text that has no address, or several, returns status `invalid`.",
    ),
    include_activity: describe(
      Flag(false),
      "Whether to add `activity` to the result, at no extra cost.",
    ),
    control: describe(
      optional(ControlInput),
      "Proof that the visitor controls the address, by the Email Verification Protocol. A good one makes the result `valid`, and no mail server is asked; any other changes only `control`.",
    ),
    options: describe(
      optionalOr(
        part({
          deep_verify: describe(
            Flag(true),
            "Whether to ask the mail server about the mailbox. With `false` only syntax, lists and DNS are checked, at the same price; `verification.not_known` names the rest.",
          ),
          include_ai: describe(Flag(true), "Whether the result has `ai`."),
          include_evidence: describe(Flag(false), "Whether the result has `evidence`."),
          include_receipt: describe(
            Flag(false),
            "Whether the result has `receipt`, at no extra cost. When the status is pending, the result of the job has it.",
          ),
          timeout_ms: describe(
            optionalOr(
              v.pipe(
                v.number(WAIT_WORDS),
                v.integer(WAIT_WORDS),
                v.minValue(0, WAIT_WORDS),
                v.transform((ms) => Math.min(Math.max(ms, WAIT_MS.least), WAIT_MS.most)),
              ),
              WAIT_MS.default,
            ),
            "Milliseconds to wait for the result. Below 100 counts as 100, above 25,000 as 25,000. A slower one continues as a job. A repeat under the same Idempotency-Key may have another value.",
          ),
        }),
        {},
      ),
      "How to verify.",
    ),
  }),
  output: v.union([
    field.object("The result of a verification.", {
      ...VerificationResult.entries,
      activity: describe(
        v.optional(ActivityPart),
        "Opens and clicks of the address. Present only with `include_activity`.",
      ),
      cached: field.boolean("True when the result is from the last 24 hours, for this account."),
      proof: describe(
        v.optional(v.literal(CONTROLLED)),
        "What proves the result, if not the mail server: the visitor controls the address.",
      ),
      ...Control,
      message: field.maybeText("A note for people. Left out when there is none."),
      ...Charged,
    }),
    field.object(
      "The verification takes longer than `timeout_ms`, or a later attempt may find out more, for example at a server that greylists. The job has the result. It is charged once, with this request.",
      {
        status: describe(
          v.literal("pending"),
          "Always `pending`: the verification continues as a job.",
        ),
        job_id: field.text("The job's id. Read the result at GET /v1/jobs/{id}."),
        email: field.text("The address of the request."),
        created_at: field.text("When it was created, ISO 8601."),
        message: field.text("What to do next, in a sentence."),
        ...Control,
        ...Charged,
      },
    ),
  ]),

  async handle(world, caller, { body, key }) {
    const { options } = body;
    const email = readAddress(body.email);
    const ask = {
      email,
      options: {
        deepVerify: options.deep_verify,
        includeAi: options.include_ai,
        includeEvidence: options.include_evidence,
      },
      waitMs: options.timeout_ms,
      ...(options.include_receipt && {
        receipt: { origin: body.control?.origin, nonce: body.control?.nonce },
      }),
      proof: body.control,
    };
    // The wait is not part of the request's fingerprint.
    const { timeout_ms: _, include_receipt, ...others } = options;
    // 0.2.0 does not know the option: its claims have the fingerprint of a request without it.
    const asked = { ...others, ...(include_receipt && { include_receipt }) };
    const keyed = keyedBy("verify", caller, key, { ...body, options: asked });
    const result = await verifyOnce(world, caller, ask, keyed);
    const activity =
      body.include_activity && result.kind === "verified"
        ? await activityFor(world, caller, email)
        : undefined;
    const data = { ...toOutcome(result, email.text), ...(activity && { activity }) };
    return ok({ ...data, ...chargedFor(result, caller) });
  },
});

/**
 * Reads the current activity even for a cached or replayed result, because the activity is not part of the paid result. For the
 * same reason a paid result is returned when the activity cannot be read.
 */
const activityFor = async (world: World, caller: Caller, { address }: AddressText) => {
  if (!address) return undefined;
  try {
    const activity = await findActivity(world, caller, address);
    return activity && toPart(activity);
  } catch (cause) {
    world.log("activity_unread", { cause });
    return undefined;
  }
};

const UNVERIFIED_FIELDS = "so smtp_check, mailbox_exists and catch_all are not known.";
const SENTENCES: Readonly<Record<string, string>> = {
  [HOST_DAILY_LIMIT]: `The mail server has reached its limit for today and was not asked, ${UNVERIFIED_FIELDS} Try again tomorrow (UTC).`,
  [PROBE_POLICY]: `This service does not ask the mail servers of this provider, ${UNVERIFIED_FIELDS}`,
};
/** States that no mail server was asked, and that the result is free when the cause is ours. */
const messageFor = (result: Verification): string => {
  if (findFreeReason(result) === null) return `The mail server was not asked, ${UNVERIFIED_FIELDS}`;
  const turnedAway = `The mail server turned this service away, or could not be reached from it, ${UNVERIFIED_FIELDS}`;
  return withMoneySentence(SENTENCES[result.reason] ?? turnedAway, "nothing_charged");
};

const toOutcome = (verified: VerifyResult, email: string) => ({
  ...(verified.control && { control: verified.control }),
  ...toFound(verified, email),
});

const toFound = (verified: VerifyResult, email: string) =>
  verified.kind === "verified"
    ? {
        ...toWire(verified.result),
        ...(verified.result.reason === CONTROLLED && { proof: CONTROLLED }),
        cached: verified.cached,
        ...((isServerUnasked(verified.result) || findFreeReason(verified.result) !== null) && {
          message: messageFor(verified.result),
        }),
      }
    : {
        status: "pending" as const,
        job_id: verified.pending.job,
        email: email.trim(),
        created_at: verified.pending.createdAt,
        message: withMoneySentence(
          `The verification continues as a job: read GET /v1/jobs/${verified.pending.job}.`,
          "repeat_charges",
        ),
      };
