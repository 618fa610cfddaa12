import { acceptBatch } from "@mailproof/core/lists/batch";
import { formatCredits, toCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { keyedBy } from "../http/idempotency.ts";
import { invalidField } from "../http/parse.ts";
import {
  createList,
  describe,
  EMAIL_LENGTH_MAX,
  limitCharacters,
  notEmpty,
  optional,
  PAID_ERRORS,
} from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { CallbackUrl, JobName, JobOptions, toVerifyOptions } from "../schema/job-options.ts";
import { assertMayCall } from "../schema/outgoing-url.ts";

const EMAILS_MAX = 10_000;
const SECRET_LENGTH_MAX = 256;

export const verifyBatch = endpoint({
  id: "verifyBatch",
  route: "POST /v1/verify/batch",
  tag: "Verification",
  summary: "Verify up to 10,000 addresses as a job.",
  price: `${formatCredits(PRICES.batchAddress)} for each different address, when the job is accepted. An \`unknown\` that our side causes is refunded when the job ends; one that the recipient's side causes is not.`,
  access: "verification:write",
  needs: ["table:readwrite", "blobs:write", "queue:send", "https", "seal"],
  keyed: true,
  tool: {
    effect: "additive",
    hint: "Returns a job_id immediately. Call get_job with include_results false until its status is completed or failed, then read its results page by page.",
  },
  answers: [202],
  errors: [...PAID_ERRORS, "RESULT_DELETED"],

  // 500 bytes for each of 10,000 addresses; a Lambda accepts 6 MB.
  bodyBytesMax: 5_000_000,
  body: v.strictObject({
    emails: describe(
      v.pipe(
        createList(v.pipe(v.string(), limitCharacters(EMAIL_LENGTH_MAX)), EMAILS_MAX),
        v.minLength(1, "must have at least one entry"),
      ),
      "The addresses, up to 10,000. A repeated address is verified and charged once.",
    ),
    name: describe(JobName, "The job's name."),
    webhook_url: describe(
      CallbackUrl,
      "HTTPS URL to call when the job ends. The call is signed only if `webhook_secret` is sent; treat an unsigned call as a hint to read the job.",
    ),
    webhook_secret: describe(
      optional(v.pipe(v.string(), notEmpty, limitCharacters(SECRET_LENGTH_MAX))),
      "Signs the call as Standard Webhooks does: 1 to 256 characters of your choice.",
    ),
    options: describe(JobOptions, "How to verify."),
  }),
  output: v.object({
    job_id: field.text("The job's id."),
    status: describe(v.literal("processing"), "The state of the job."),
    total_emails: field.count("Number of submitted addresses."),
    unique_emails: field.count("Different addresses, each verified and charged once."),
    duplicates_removed: field.count("Repeated addresses."),
    created_at: field.text("When it was created, ISO 8601."),
    credits_used: field.credits("Credits charged by this request."),
    idempotent_replay: field.boolean(
      "True when the response repeats that of the job which this Idempotency-Key started. Nothing is charged then.",
    ),
  }),

  async handle(world, caller, { body, key }) {
    const { emails, name = null, webhook_url: url, webhook_secret: secret = null } = body;
    if (secret !== null && url === undefined)
      throw invalidField("webhook_secret", "requires webhook_url");
    if (url !== undefined) await assertMayCall(world, "webhook_url", url);
    const request = {
      emails,
      name,
      options: toVerifyOptions(body.options),
      callback: url === undefined ? null : { url, secret },
    };
    const keyed = keyedBy("verify_batch", caller, key, body);
    const result = await acceptBatch(world, caller, request, keyed);
    const isFree = result.replayed || caller.mode === "test";
    return {
      status: 202,
      data: {
        job_id: result.job,
        status: "processing" as const,
        total_emails: result.totalSubmitted,
        unique_emails: result.unique,
        duplicates_removed: result.duplicatesRemoved,
        created_at: result.createdAt,
        credits_used: isFree ? 0 : toCredits(result.price),
        idempotent_replay: result.replayed,
      },
    };
  },
});
