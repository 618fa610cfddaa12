import { openOwnColumns, toColumns } from "@mailproof/core/exports/source-list";
import { readJobRow } from "@mailproof/core/find-rows/read-job-row";
import {
  readRowHistory,
  type FormerResult as StoredResult,
} from "@mailproof/core/find-rows/row-history";
import { Failure } from "@mailproof/core/lib/failure";
import { signStoredClaims } from "@mailproof/core/receipts/create-receipt";
import { isOpenJob, type Job } from "@mailproof/core/rows/items";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import {
  assertNotDeleted,
  OWN_COLUMNS,
  ResultRow,
  requireJob,
  toElsewhere,
  toRow,
} from "../schema/jobs.ts";
import { toWire, VerificationResult } from "../schema/verification.ts";

const NUMBER = /^[1-9]\d{0,8}$/;
const UNUSED_ROW = 0;

const toRowNumber = (text: string): number => (NUMBER.test(text) ? Number(text) : UNUSED_ROW);

const createNoResultFailure = (job: Job): Failure =>
  new Failure(
    "NOT_FOUND",
    "nothing_charged",
    isOpenJob(job)
      ? "The row has no result yet, or the list has no such row."
      : "The job has no result of such a row.",
  );

const FormerResult = v.object({
  job_id: field.text("The job that has this result."),
  status: VerificationResult.entries.status,
  reason: VerificationResult.entries.reason,
  quality_score: VerificationResult.entries.quality_score,
  verified_at: VerificationResult.entries.verified_at,
});

const toFormerResult = ({ job, result }: StoredResult): v.InferOutput<typeof FormerResult> => {
  const { status, reason, quality_score, verified_at } = toWire(result);
  return { job_id: job, status, reason, quality_score, verified_at };
};

export const getJobRow = endpoint({
  id: "getJobRow",
  route: "GET /v1/jobs/{id}/results/{row}",
  tag: "Jobs",
  addition:
    "A page of rows has no evidence: a support question about one row needs it without the whole list.",
  summary: "Get the result of one row of a job, with its evidence.",
  access: "verification:read",
  needs: ["table:readwrite", "blobs:read", "seal"],
  tool: {
    effect: "readOnly",
    hint: "Explains a verdict: DNS answers, the SMTP transcript with times, the rule and the parts of the score. get_job with q finds the row of an address.",
  },
  errors: ["NOT_FOUND"],

  path: v.strictObject({
    id: describe(Id, "The job's id (`job_id`)."),
    row: describe(
      v.pipe(v.string(), v.transform(toRowNumber)),
      "The row's number in the submitted list (`row`).",
    ),
  }),
  output: field.object(
    "The row's result. `evidence` is kept for 7 days after `verified_at`, and left out afterwards, after an address of the same part of the list was erased, and for accounts whose results are stored for less than 7 days.",
    {
      ...v.omit(ResultRow, ["cells"]).entries,
      columns: OWN_COLUMNS,
      history: describe(
        v.optional(v.array(FormerResult)),
        "Earlier results of the address, newest first: those that were replaced in this job, and those of the lists that it continues. Left out when there is none.",
      ),
    },
  ),

  async handle(world, caller, { path }) {
    const job = await requireJob(world, caller, path.id);
    const row = await readJobRow(world, job, path.row);
    if (!row) throw createNoResultFailure(await assertNotDeleted(world, job));
    const own = await openOwnColumns(world, job);
    const cells = (await own?.readCells([row]))?.get(row.row);
    const columns = own && cells && toColumns(own.names, cells);
    const elsewhere = toElsewhere(job, cells ?? []);
    const former = await readRowHistory(world, job, row);
    const history = former.map(toFormerResult);
    const more = {
      ...elsewhere,
      ...(columns && { columns }),
      ...(history.length > 0 && { history }),
    };
    return ok({ ...toRow(signStoredClaims(world, row)), ...more });
  },
});
