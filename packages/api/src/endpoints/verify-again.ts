import { verifyAgain as verifyRowsAgain } from "@mailproof/core/lists/again";
import { formatCredits, toCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { keyedBy } from "../http/idempotency.ts";
import { describe, Id, optional, PAID_ERRORS } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { requireJob } from "../schema/jobs.ts";
import { AddressPart, Filter } from "../schema/row-selection.ts";
import { DomainName } from "../schema/sender.ts";

const NEEDS_SELECTION = "is required, unless q or correct is sent";

export const verifyAgain = endpoint({
  id: "verifyAgain",
  route: "POST /v1/jobs/{id}/again",
  tag: "Jobs",
  addition:
    "The contract verifies a list once: rows that stayed unknown, and domains that were typed wrong, needed another list.",
  summary:
    "Verify rows of a job that have a result again, as a job of their own, also while the job runs. Its results replace those rows as they arrive.",
  price: `${formatCredits(PRICES.fileAddress)} for each row that is verified, when the request is accepted, with the refunds of a file. A row that \`correct\` gives an address of the list is not: it gets that row's result, with the sub-status \`duplicate\`. A row that is \`unknown\` again keeps its former result.`,
  access: "verification:write",
  needs: ["table:readwrite", "blobs:read", "blobs:write", "queue:send"],
  keyed: true,
  tool: {
    effect: "additive",
    hint: "Read matching_rows of get_job with the same filter and q first: it is the price in credits, and with correct the most that it can be. Follow the job_id with get_job, then read the rows of the first job.",
  },
  answers: [202],
  errors: [...PAID_ERRORS, "NOT_FOUND", "JOB_OPEN", "RESULT_DELETED"],

  path: v.strictObject({ id: describe(Id, "The id (`job_id`) of a job.") }),
  body: v.pipe(
    v.strictObject({
      filter: describe(
        optional(Filter),
        "Only rows with these values, as in `GET /v1/jobs/{id}`: `status:unknown`. One of `filter`, `q` and `correct` is required.",
      ),
      q: describe(optional(AddressPart), "Only addresses that contain this text, in any case."),
      correct: describe(
        optional(
          v.strictObject({
            domain: describe(DomainName, "The domain, as `summary.typos` names it."),
            meant: describe(DomainName, "The domain at which they are verified."),
          }),
        ),
        "Only rows at `domain`: their addresses are verified at `meant`, unless the list has that address already. `email` is the corrected address then; exports keep the list's own beside it.",
      ),
    }),
    v.forward(
      v.check(({ filter, q, correct }) => (filter ?? q ?? correct) !== undefined, NEEDS_SELECTION),
      ["filter"],
    ),
  ),
  output: v.object({
    job_id: field.text("The id of the job that verifies the rows."),
    parent_job_id: field.text("The job whose rows it verifies."),
    status: describe(v.literal("processing"), "The state of the job."),
    rows: field.count("Number of rows that are verified, each charged once."),
    duplicates: field.maybeCount(
      "Number of rows that were corrected to an address of the list: they are not charged, get its result, and have the sub_status `duplicate`. Left out where there are none.",
    ),
    created_at: field.text("When it was created, ISO 8601."),
    credits_used: field.credits("Credits charged by this request."),
    idempotent_replay: field.boolean(
      "True when the response repeats that of the job which this Idempotency-Key started. Nothing is charged then.",
    ),
  }),

  async handle(world, caller, { path, body, key }) {
    const { filter = {}, q: text, correct } = body;
    const correction = correct && { from: correct.domain, to: correct.meant };
    const keyed = keyedBy("verify_file", caller, key, { again: path.id, ...body });
    const findParent = () => requireJob(world, caller, path.id);
    const wanted = { filter, text, correction };
    const result = await verifyRowsAgain(world, caller, findParent, wanted, keyed);
    const isFree = result.replayed || caller.mode === "test";
    return {
      status: 202,
      data: {
        job_id: result.job,
        parent_job_id: path.id,
        status: "processing" as const,
        rows: result.rows,
        ...(result.duplicates && { duplicates: result.duplicates }),
        created_at: result.createdAt,
        credits_used: isFree ? 0 : toCredits(result.price),
        idempotent_replay: result.replayed,
      },
    };
  },
});
