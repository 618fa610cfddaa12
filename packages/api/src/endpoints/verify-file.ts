import { createUpload } from "@mailproof/core/intake/uploads";
import { withMoneySentence } from "@mailproof/core/lib/failure";
import type { FileResult } from "@mailproof/core/lists/dispatch";
import { acceptFile, type FileRequest } from "@mailproof/core/lists/file";
import { formatCredits, type Halves, toCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import type { Json } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { endpoint } from "../http/endpoint.ts";
import { getFileKind, takeFileForm } from "../http/file-form.ts";
import { keyedBy } from "../http/idempotency.ts";
import {
  Count,
  Credits,
  describe,
  KEYED_ERRORS,
  limitCharacters,
  notEmpty,
  optional,
  PAID_ERRORS,
} from "../schema/common.ts";
import {
  CallbackUrl,
  EmailColumn,
  JobName,
  JobOptions,
  toVerifyOptions,
} from "../schema/job-options.ts";
import { assertMayCall } from "../schema/outgoing-url.ts";
import { toUploadedList, UploadedList } from "../schema/uploaded-list.ts";

const NAME_LENGTH_MAX = 255;

const SIZE_WORDS = "must be a whole number of bytes";

const FileName = v.pipe(v.string(), notEmpty, limitCharacters(NAME_LENGTH_MAX));

const Upload = v.object({
  upload_url: describe(
    v.string(),
    "PUT the file to this URL, unchanged. Anyone who has the URL can write the file.",
  ),
  file_key: describe(v.string(), "Identifies the upload. Send it with action `process`."),
  expires_in_seconds: describe(Count, "Lifetime of the URL in seconds."),
  next_step: describe(v.string(), "What to do next, in a sentence."),
});

const Accepted = v.object({
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
  unique_emails: describe(Count, "Different addresses, each verified and charged once."),
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

export const verifyFile = endpoint({
  id: "verifyFile",
  route: "POST /v1/verify/file",
  tag: "Verification",
  summary:
    "Verify the addresses of a CSV or TXT file as a job: request an upload URL, PUT the file, then process it.",
  price: `${formatCredits(PRICES.fileAddress)} for each different address, when the job is accepted. Uploading costs nothing. An \`unknown\` where our limits or rules kept us from asking the mail server is refunded when the job ends.`,
  access: "verification:write",
  needs: ["table:readwrite", "blobs:read", "blobs:write", "queue:send", "https"],
  keyed: true,
  form: "streamed",
  tool: {
    effect: "additive",
    hint: "The user must PUT the file's bytes to the upload_url of action get_upload_url, before action process. Follow the job_id with get_job.",
  },
  actions: {
    get_upload_url: { id: "createUpload", repeat: "always" },
    process: { id: "processFile" },
  },
  answers: [200, 202],
  errors: [...KEYED_ERRORS, ...PAID_ERRORS, "RESULT_DELETED", "NOT_FOUND"],

  body: v.variant(
    "action",
    [
      v.strictObject({
        action: describe(
          v.literal("get_upload_url"),
          "`get_upload_url` returns a URL to upload the file to.",
        ),
        file_name: describe(FileName, "The file's name, ending in .csv or .txt."),
        file_size: describe(
          optional(v.pipe(v.number(SIZE_WORDS), v.integer(SIZE_WORDS), v.minValue(0, SIZE_WORDS))),
          "Its size in bytes. The URL then accepts no other size.",
        ),
      }),
      v.strictObject({
        action: describe(v.literal("process"), "`process` verifies an uploaded file."),
        file_key: describe(v.pipe(v.string(), notEmpty), "The `file_key` of the upload."),
        email_column: describe(
          EmailColumn,
          "The header or the number of the column with the addresses. Left out: it is detected.",
        ),
        has_header: describe(
          optional(v.boolean("must be true or false")),
          "Whether the first row names the columns. Left out: it is detected.",
        ),
        name: describe(JobName, "The job's name. Left out: the name of the file."),
        webhook_url: describe(
          CallbackUrl,
          "HTTPS URL to call when the job ends. The call is not signed: treat it as a hint to read the job.",
        ),
        options: describe(JobOptions, "How to verify."),
      }),
    ],
    "must be get_upload_url or process",
  ),
  output: v.union([Upload, Accepted]),

  async handle(world, caller, { body, form, key }) {
    if (form) {
      const { fileKey, ...sent } = await takeFileForm(world, caller, form);
      const request = await toFileRequest(world, sent, { fileKey, field: "file" });
      return process(world, caller, request, { key, request: sent });
    }
    if (body.action === "get_upload_url")
      return { status: 200, data: await upload(world, caller, body) };
    const request = await toFileRequest(world, body, { fileKey: body.file_key, field: "file_key" });
    return process(world, caller, request, { key, request: body });
  },
});

type FileFields = {
  readonly email_column?: string | undefined;
  readonly has_header?: boolean | undefined;
  readonly name?: string | undefined;
  readonly webhook_url?: string | undefined;
  readonly options: Parameters<typeof toVerifyOptions>[0];
};

const toFileRequest = async (
  world: World,
  { email_column, has_header, name, webhook_url: url, options }: FileFields,
  file: Pick<FileRequest, "fileKey" | "field">,
): Promise<FileRequest> => {
  if (url !== undefined) await assertMayCall(world, "webhook_url", url);
  const callback = url === undefined ? null : { url, secret: null };
  const columns = { emailColumn: email_column, hasHeader: has_header };
  return { ...file, ...columns, name: name ?? null, options: toVerifyOptions(options), callback };
};

type UploadFields = { readonly file_name: string; readonly file_size?: number | undefined };

const upload = async (world: World, caller: Caller, { file_name, file_size }: UploadFields) => {
  const kind = getFileKind("file_name", file_name);
  const file = { kind, name: file_name, bytes: file_size };
  const { url, key, expiresInSeconds } = await createUpload(world, caller, file);
  return {
    upload_url: url,
    file_key: key,
    expires_in_seconds: expiresInSeconds,
    next_step:
      "PUT the file, unchanged, to upload_url; then POST here again with action process and this file_key.",
  };
};

type Sent = { readonly key: string | null; readonly request: Json };

const process = async (world: World, caller: Caller, file: FileRequest, { key, request }: Sent) => {
  const result = await acceptFile(
    world,
    caller,
    file,
    keyedBy("verify_file", caller, key, request),
  );
  const { remaining } = result;
  const { totalSubmitted, duplicatesRemoved, invalidSkipped, unique, list } = result.counts;
  const data = {
    job_id: result.job,
    status: getStatus(result),
    total_submitted: totalSubmitted,
    duplicates_removed: duplicatesRemoved,
    invalid_emails_skipped: invalidSkipped,
    unique_emails: unique,
    file: toUploadedList(list),
    ...(remaining !== undefined && { credits_remaining: toCredits(remaining) }),
    ...toMoneyFields(result, caller),
  };
  // A repeat without a key is charged again, so the response does not ask for one.
  const isToRepeat = isUnderWay(result) && key !== null;
  const retryAfter = isToRepeat && { "retry-after": String(Math.ceil(result.waitMs / 1000)) };
  return { status: 202 as const, data, ...(retryAfter && { headers: retryAfter }) };
};

type FileUnderWay = Extract<FileResult, { readonly waitMs: number }>;

const isUnderWay = (result: FileResult): result is FileUnderWay =>
  result.kind === "dispatching" || result.kind === "settling";

const getStatus = (result: FileResult) =>
  !isUnderWay(result) && result.dispatched.unknown > 0
    ? ("enqueue_unknown" as const)
    : ("processing" as const);

const toMoneyFields = (result: FileResult, { mode }: Caller) => {
  const creditsUsed = { credits_used: mode === "test" ? 0 : toCredits(result.price) };
  if (isUnderWay(result)) return { ...creditsUsed, ...UNDER_WAY[result.kind] };
  return { ...creditsUsed, ...toDispatchFields(result, mode), ...toReplayField(result) };
};

/** The money fields while the request is in progress, or while its settlement is uncertain. */
const UNDER_WAY = {
  dispatching: {
    dispatch_in_progress: true,
    message: withMoneySentence(
      "A request with this Idempotency-Key is still queueing the addresses.",
      "nothing_more",
    ),
  },
  settling: {
    dispatch_settlement_pending: true,
    message: withMoneySentence(
      withMoneySentence(
        "The addresses are queued; their credits are not settled yet. Follow the job.",
        "nothing_more",
      ),
      "repeat_charges",
    ),
  },
};

const toReplayField = ({ kind }: FileResult) =>
  kind === "replayed" ? { idempotent_replay: true } : {};

const toDispatchFields = (
  { dispatched: { refused, unknown }, counts, kind }: Extract<FileResult, { dispatched: unknown }>,
  mode: Caller["mode"],
) => {
  const getCredits = (addresses: number) =>
    mode === "test" ? 0 : toCredits((addresses * PRICES.fileAddress) as Halves);
  const sentences = [
    kind === "replayed"
      ? withMoneySentence(
          "This is the earlier submission with this Idempotency-Key.",
          "nothing_more",
        )
      : beingVerified(counts.unique - refused),
    ...otherColumns(counts.list?.otherEmailColumns ?? []),
    ...(refused > 0
      ? [withMoneySentence(`${addresses(refused)} could not be queued.`, "partly_refunded")]
      : []),
    ...(unknown > 0
      ? [withMoneySentence(`${addresses(unknown)} may or may not be queued.`, "partly_held")]
      : []),
  ];
  return {
    ...(refused > 0 && { credits_refunded: getCredits(refused) }),
    ...(unknown > 0 && { credits_held: getCredits(unknown), enqueue_unknown: unknown }),
    message: sentences.join(" "),
  };
};

const addresses = (count: number): string => (count === 1 ? "1 address" : `${count} addresses`);

/** A job verifies one column. The message tells the client about the other columns. */
const otherColumns = (names: readonly string[]): readonly string[] =>
  names.map((name) => `Column ${JSON.stringify(name)} also holds addresses and is not verified.`);

const beingVerified = (count: number): string =>
  `${addresses(count)} ${count === 1 ? "is" : "are"} being verified.`;
