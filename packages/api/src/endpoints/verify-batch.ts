import { acceptBatch } from "@mailproof/core/jobs/batch";
import { toCredits } from "@mailproof/core/money/credits";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { keyedBy } from "../http/idempotency.ts";
import { invalidField } from "../http/parse.ts";
import {
  Count,
  Credits,
  charactersUpTo,
  EMAIL_LENGTH_MAX,
  KEYED_ERRORS,
  listOf,
  notEmpty,
  optional,
  PAID_ERRORS,
} from "../schema/common.ts";
import { CallbackUrl, fingerprinted, JobName, JobOptions, wantsOf } from "../schema/job-options.ts";
import { assertMayCall } from "../schema/outgoing-url.ts";

const ROUTE = "POST /v1/verify/batch";
const EMAILS_MAX = 10_000;
const SECRET_LENGTH_MAX = 256;

export const verifyBatch = endpoint({
  id: "verifyBatch",
  route: ROUTE,
  tag: "Verification",
  summary: "Verify up to 10,000 addresses as a job.",
  price:
    "1 credit for each different address, when the job is accepted. Verifications that fail are not refunded; an `unknown` that only says that no mail server was asked (`deep_verify: false`) is, when the job ends.",
  access: "verification:write",
  needs: ["table:readwrite", "blobs:write", "queue:send", "https"],
  keyed: true,
  tool: {
    effect: "additive",
    hint: "Returns a job_id at once. Call get_job with include_results false until its status is completed or failed, then read its results page by page.",
  },
  answers: [202],
  errors: [...KEYED_ERRORS, ...PAID_ERRORS],

  // 10,000 addresses of 500 bytes; also what API Gateway and Lambda hand over at once.
  bodyBytesMax: 5_000_000,
  body: v.strictObject({
    emails: v.pipe(
      listOf(v.pipe(v.string(), charactersUpTo(EMAIL_LENGTH_MAX)), EMAILS_MAX),
      v.minLength(1, "must have at least one entry"),
    ),
    name: JobName,
    webhook_url: CallbackUrl,
    webhook_secret: optional(v.pipe(v.string(), notEmpty, charactersUpTo(SECRET_LENGTH_MAX))),
    options: JobOptions,
  }),
  output: v.object({
    job_id: v.string(),
    status: v.literal("processing"),
    total_emails: Count,
    unique_emails: Count,
    duplicates_removed: Count,
    created_at: v.string(),
    credits_used: Credits,
    idempotent_replay: v.optional(v.boolean()),
  }),

  async handle(world, caller, { body, key }) {
    const { emails, name = null, webhook_url: url, webhook_secret: secret = null } = body;
    if (secret !== null && url === undefined)
      throw invalidField("webhook_secret", "needs a webhook_url that it signs for");
    if (url !== undefined) await assertMayCall(world, "webhook_url", url);
    const wish = {
      emails,
      name,
      wants: wantsOf(body.options),
      callback: url === undefined ? null : { url, secret },
    };
    const keyed = keyedBy(ROUTE, caller, key, fingerprinted(body));
    const told = await acceptBatch(world, caller, wish, keyed);
    const isFree = told.replayed || caller.mode === "test";
    return {
      status: 202,
      data: {
        job_id: told.job,
        status: "processing" as const,
        total_emails: told.totalSubmitted,
        unique_emails: told.unique,
        duplicates_removed: told.duplicatesRemoved,
        created_at: told.createdAt,
        credits_used: isFree ? 0 : toCredits(told.price),
        ...(told.replayed && { idempotent_replay: true }),
      },
    };
  },
});
