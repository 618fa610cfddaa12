import * as v from "valibot";
import { Count, Credits, describe } from "./common.ts";
import { ComparedLists } from "./continued-list.ts";
import { UploadedList } from "./uploaded-list.ts";

// What the actions of a file answer.

export const Upload = v.object({
  upload_url: describe(
    v.string(),
    "PUT the file to this URL, unchanged. Anyone who has the URL can write the file.",
  ),
  file_key: describe(v.string(), "Identifies the upload. Send it with action `process`."),
  expires_in_seconds: describe(Count, "Lifetime of the URL in seconds."),
  next_step: describe(v.string(), "What to do next, in a sentence."),
});

export const Accepted = v.object({
  job_id: describe(v.string(), "The job's id."),
  status: describe(
    v.picklist(["processing", "enqueue_unknown"]),
    "The state of the job. enqueue_unknown: it is not known whether some of the addresses are queued.",
  ),
  total_submitted: describe(Count, "Number of rows read, including rows without an address."),
  duplicates_removed: describe(Count, "Repeated addresses."),
  invalid_emails_skipped: describe(
    Count,
    "Number of rows without an address. They are neither charged nor in the job.",
  ),
  settled_skipped: describe(
    v.optional(Count),
    "With `skip_settled`: rows that another service's verdict settles. They are neither charged nor in the job. Left out when there are none.",
  ),
  unique_emails: describe(Count, "Different addresses, each verified and charged once."),
  compared: describe(
    v.optional(ComparedLists),
    "With `continues`: how the list compares with the earlier one. Left out otherwise.",
  ),
  file: describe(
    v.optional(UploadedList),
    "What was found in the file. Left out while an earlier request is in progress.",
  ),
  credits_used: describe(Credits, "Credits charged by this request."),
  credits_remaining: describe(
    v.optional(Credits),
    "Credits left after this charge, exactly, with those that this response refunds. For a balance in several parts, as large ones are on AWS: the balance read right before the charge, less the charge. A repeat has the first response's figure, or, while that is not stored, the balance at this moment. Left out when it is not known: that is not zero.",
  ),
  credits_refunded: describe(
    v.optional(Credits),
    "Credits refunded for addresses that could not be queued. Left out when there are none.",
  ),
  credits_held: describe(
    v.optional(Credits),
    "Credits charged, but neither spent nor refunded yet. Left out when there are none.",
  ),
  enqueue_unknown: describe(
    v.optional(Count),
    "Number of addresses of which it is not known whether they are queued. Left out when there are none.",
  ),
  dispatch_in_progress: describe(
    v.optional(v.boolean()),
    "True when an earlier request with this key is still queueing. Send the same request again after Retry-After, or follow the job.",
  ),
  dispatch_settlement_pending: describe(
    v.optional(v.boolean()),
    "True when all addresses are queued and their credits are not settled yet.",
  ),
  idempotent_replay: describe(
    v.optional(v.boolean()),
    "True when an earlier response is repeated. Left out otherwise.",
  ),
  message: describe(v.string(), "The result in a sentence."),
});

export const Preview = v.object({
  total_submitted: Accepted.entries.total_submitted,
  duplicates_removed: Accepted.entries.duplicates_removed,
  invalid_emails_skipped: Accepted.entries.invalid_emails_skipped,
  settled_skipped: Accepted.entries.settled_skipped,
  unique_emails: Accepted.entries.unique_emails,
  compared: Accepted.entries.compared,
  file: describe(UploadedList, "What was found in the file."),
  changed: describe(
    v.optional(Count),
    "With `continues`: rows whose address the earlier list has beside other cells. Left out when the two files have different columns.",
  ),
  credits: describe(Credits, "What `process` with the same fields charges now."),
});
