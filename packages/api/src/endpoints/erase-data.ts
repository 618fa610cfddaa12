import { createSubject } from "@mailproof/core/accounts/subject";
import { eraseAddress } from "@mailproof/core/erasure/erase-address";
import type { ErasedCounts } from "@mailproof/core/erasure/items";
import * as v from "valibot";
import { assertMay } from "../http/authenticate.ts";
import { endpoint } from "../http/endpoint.ts";
import { describe, EMAIL_LENGTH_MAX, limitCharacters, notEmpty } from "../schema/common.ts";
import * as field from "../schema/fields.ts";

export const eraseData = endpoint({
  id: "eraseData",
  route: "DELETE /v1/data",
  tag: "Account",
  addition: "The contract does not say how what is stored of a person is erased.",
  summary: "Erase what the account has stored of an email address.",
  access: "verification:write",
  needs: ["table:readwrite", "blobs:read", "blobs:write", "seal"],
  tool: {
    effect: "destructive",
    hint: "Ask the user first: results and activity of the address cannot be restored. Needs the scope activity:write, too.",
  },
  answers: [200, 202],

  query: v.strictObject({
    email: describe(
      v.pipe(v.string(), v.trim(), notEmpty, limitCharacters(EMAIL_LENGTH_MAX)),
      "The address to erase. Spelling does not matter: `Ann@X.com` erases `ann@x.com`, too.",
    ),
  }),
  output: v.object({
    complete: field.boolean(
      "True when nothing of the address is left. False with 202: the erasure continues, and repeating the request shows whether it has ended.",
    ),
    jobs_open: field.count(
      "Running jobs with the address in their list. It is erased from them when they have ended.",
    ),
    erased: field.object("What was erased since the request that started the erasure.", {
      cached_results: field.count("Results in the cache."),
      responses: field.count(
        "Responses stored for an Idempotency-Key or a search. A repeat of the request is not charged.",
      ),
      activity_records: field.count("Records of opens and clicks."),
      verdicts: field.count("Verdicts and bounces that later results take into account."),
      mail_tests: field.count(
        "Mail tests with a mail from the address. Their mail and report are erased.",
      ),
      job_rows: field.count(
        "Rows of jobs. A row keeps its status, and shows `[erased]` instead of the address; the other cells of the list are empty.",
      ),
    }),
  }),

  async handle(world, caller, { query }) {
    // The erasure covers more than results, so it needs this scope, too.
    assertMay(world, caller, { access: "activity:write" });
    const subject = createSubject(query.email);
    const { isComplete, erased, openJobs } = await eraseAddress(world, caller, subject);
    return {
      status: isComplete ? 200 : 202,
      data: {
        complete: isComplete,
        jobs_open: openJobs.length,
        erased: toErasedFields(erased),
      },
    };
  },
});

export const toErasedFields = (erased: ErasedCounts) => ({
  cached_results: erased.cachedResults,
  responses: erased.responses,
  activity_records: erased.activityRecords,
  verdicts: erased.verdicts,
  mail_tests: erased.mailTests,
  job_rows: erased.jobRows,
});
