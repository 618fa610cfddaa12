import type { AppWorld } from "@mailproof/core/app-world";
import { createUpload } from "@mailproof/core/intake/uploads";
import { withMoneySentence } from "@mailproof/core/lib/failure";
import { continueList, type ListPreview, previewList } from "@mailproof/core/lists/continue-list";
import type { FileCounts, FileResult } from "@mailproof/core/lists/dispatch";
import type { Comparison } from "@mailproof/core/lists/earlier-results";
import { acceptFile, type FileRequest, type FileToRead } from "@mailproof/core/lists/file";
import { formatCredits, type Halves, toCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import type { Json } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { endpoint } from "../http/endpoint.ts";
import { getFileKind, takeFileForm } from "../http/file-form.ts";
import { keyedBy } from "../http/idempotency.ts";
import { invalidField } from "../http/parse.ts";
import { describe, limitCharacters, notEmpty, optional, PAID_ERRORS } from "../schema/common.ts";
import { CONTINUATION, findContinued, toComparedLists } from "../schema/continued-list.ts";
import { Accepted, Preview, Upload } from "../schema/file-outputs.ts";
import {
  CallbackUrl,
  EmailColumn,
  EmailColumns,
  JobName,
  JobOptions,
  toVerifyOptions,
} from "../schema/job-options.ts";
import { assertMayCall } from "../schema/outgoing-url.ts";
import { toUploadedList } from "../schema/uploaded-list.ts";

const NAME_LENGTH_MAX = 255;

const SIZE_WORDS = "must be a whole number of bytes";

const FileName = v.pipe(v.string(), notEmpty, limitCharacters(NAME_LENGTH_MAX));

const FILE = {
  file_key: describe(v.pipe(v.string(), notEmpty), "The `file_key` of the upload."),
  email_column: describe(
    EmailColumn,
    "The header or the number of the column with the addresses. Left out: it is detected.",
  ),
  email_columns: describe(
    EmailColumns,
    "Instead of `email_column`: several columns, each by its header or number. Each address in them is a row of its own, verified and charged once: of n columns, row r of the list is in row ⌈r / n⌉ of the file.",
  ),
  has_header: describe(
    optional(v.boolean("must be true or false")),
    "Whether the first row names the columns. Left out: it is detected.",
  ),
  skip_settled: describe(
    optional(v.boolean("must be true or false")),
    "`true` leaves out, at no charge, the rows whose address another service has found invalid, disposable or a spam trap, by its column in the file (`file.vendor`).",
  ),
} as const;

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
    preview: { id: "previewFile", repeat: "always" },
  },
  answers: [200, 202],
  errors: [...PAID_ERRORS, "RESULT_DELETED", "NOT_FOUND", "JOB_OPEN"],

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
        ...FILE,
        name: describe(JobName, "The job's name. Left out: the name of the file."),
        ...CONTINUATION,
        webhook_url: describe(
          CallbackUrl,
          "HTTPS URL to call when the job ends. The call is not signed: treat it as a hint to read the job.",
        ),
        options: describe(JobOptions, "How to verify."),
      }),
      v.strictObject({
        action: describe(
          v.literal("preview"),
          "`preview` reads an uploaded file, compares it with the list that it continues, and charges nothing.",
        ),
        ...FILE,
        ...CONTINUATION,
      }),
    ],
    "must be get_upload_url, process or preview",
  ),
  output: v.union([Upload, Accepted, Preview]),

  async handle(world, caller, { body, form, key }) {
    if (form) {
      const { fileKey, ...sent } = await takeFileForm(world, caller, form);
      const request = await toFileRequest(world, sent, { fileKey, field: "file" });
      return process(world, caller, request, { key, request: sent });
    }
    if (body.action === "get_upload_url")
      return { status: 200, data: await upload(world, caller, body) };
    if (body.action === "preview") {
      return { status: 200, data: await preview(world, caller, body) };
    }
    const request = await toFileRequest(world, body, { fileKey: body.file_key, field: "file_key" });
    return process(world, caller, request, { key, request: body });
  },
});

type FileFields = {
  readonly email_column?: string | undefined;
  readonly email_columns?: readonly string[] | undefined;
  readonly has_header?: boolean | undefined;
  readonly skip_settled?: boolean | undefined;
  readonly name?: string | undefined;
  readonly webhook_url?: string | undefined;
  readonly continues?: string | undefined;
  readonly fresh_days?: number | undefined;
  readonly options: Parameters<typeof toVerifyOptions>[0];
};

type UploadedFile = Pick<FileRequest, "fileKey" | "field">;

const toFileToRead = (fields: Omit<FileFields, "options">, file: UploadedFile): FileToRead => {
  const { email_column: one, email_columns: several, has_header: hasHeader } = fields;
  if (one !== undefined && several !== undefined)
    throw invalidField("email_columns", "must be left out with email_column");
  const emailColumns = one === undefined ? several : [one];
  const columnField = several === undefined ? "email_column" : "email_columns";
  return { ...file, emailColumns, hasHeader, columnField, skipSettled: fields.skip_settled };
};

const toFileRequest = async (
  world: World,
  { name, webhook_url: url, options, ...fields }: FileFields,
  file: UploadedFile,
): Promise<FileRequest> => {
  if (url !== undefined) await assertMayCall(world, "webhook_url", url);
  const callback = url === undefined ? null : { url, secret: null };
  const read = toFileToRead(fields, file);
  return { ...read, name: name ?? null, options: toVerifyOptions(options), callback };
};

type PreviewFields = Omit<FileFields, "options"> & { readonly file_key: string };

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

type Sent = {
  readonly key: string | null;
  readonly request: Json & Pick<FileFields, "continues" | "fresh_days">;
};

const process = async (
  world: AppWorld,
  caller: Caller,
  file: FileRequest,
  { key, request }: Sent,
) => {
  const keyed = keyedBy("verify_file", caller, key, request);
  const { continues, fresh_days } = request;
  const find = (earlier: string) =>
    findContinued(world, caller, { continues: earlier, fresh_days });
  const result: ProcessedFile =
    continues === undefined
      ? await acceptFile(world, caller, file, keyed)
      : await continueList(world, caller, file, () => find(continues), keyed);
  const { remaining } = result;
  const data = {
    job_id: result.job,
    status: getStatus(result),
    ...toCountFields(result),
    ...(remaining !== undefined && { credits_remaining: toCredits(remaining) }),
    ...toMoneyFields(result, caller),
  };
  // A repeat without a key is charged again, so the response does not ask for one.
  const isToRepeat = isUnderWay(result) && key !== null;
  const retryAfter = isToRepeat && { "retry-after": String(Math.ceil(result.waitMs / 1000)) };
  return { status: 202 as const, data, ...(retryAfter && { headers: retryAfter }) };
};

const toCountFields = ({
  counts,
  compared,
}: Pick<ListPreview, "counts"> & { readonly compared?: Comparison | undefined }) => ({
  total_submitted: counts.totalSubmitted,
  duplicates_removed: counts.duplicatesRemoved,
  invalid_emails_skipped: counts.invalidSkipped,
  ...(counts.settledSkipped > 0 && { settled_skipped: counts.settledSkipped }),
  unique_emails: counts.unique,
  ...(compared && { compared: toComparedLists(compared) }),
  file: toUploadedList(counts.list),
});

type FileUnderWay = Extract<ProcessedFile, { readonly waitMs: number }>;

const isUnderWay = (result: ProcessedFile): result is FileUnderWay =>
  result.kind === "dispatching" || result.kind === "settling";

const getStatus = (result: ProcessedFile) =>
  !isUnderWay(result) && result.dispatched.unknown > 0
    ? ("enqueue_unknown" as const)
    : ("processing" as const);

const toMoneyFields = (result: ProcessedFile, { mode }: Caller) => {
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

const preview = async (world: AppWorld, caller: Caller, fields: PreviewFields) => {
  const file = toFileToRead(fields, { fileKey: fields.file_key, field: "file_key" });
  const { continues, fresh_days } = fields;
  const continued =
    continues === undefined
      ? undefined
      : await findContinued(world, caller, { continues, fresh_days });
  const found = await previewList(world, caller, file, continued);
  const { counts, compared, changed } = found;
  const price = (counts.unique - (compared?.kept ?? 0)) * PRICES.fileAddress;
  return {
    ...toCountFields(found),
    ...(changed !== null && { changed }),
    credits: caller.mode === "test" ? 0 : toCredits(price as Halves),
  };
};

const toReplayField = ({ kind }: FileResult) =>
  kind === "replayed" ? { idempotent_replay: true } : {};

type ProcessedFile = FileResult & { readonly compared?: Comparison };
type DispatchedFile = Extract<ProcessedFile, { readonly dispatched: unknown }>;

const toDispatchFields = (
  { dispatched: { refused, unknown }, counts, kind, compared }: DispatchedFile,
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
      : beingVerified(counts.unique - refused - (compared?.kept ?? 0)),
    ...keepResult(compared?.kept ?? 0),
    ...skipSettled(counts),
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

/** The message tells the client about columns that are not verified. */
const otherColumns = (names: readonly string[]): readonly string[] =>
  names.map((name) => `Column ${JSON.stringify(name)} also holds addresses and is not verified.`);

const skipSettled = ({ settledSkipped: rows, list }: FileCounts): readonly string[] =>
  rows === 0
    ? []
    : [
        `${rows === 1 ? "1 row is" : `${rows} rows are`} left out because ${list.vendor?.name} settled ${rows === 1 ? "it" : "them"}.`,
      ];

const keepResult = (count: number): readonly string[] =>
  count === 0 ? [] : [`${addresses(count)} ${count === 1 ? "keeps its" : "keep their"} result.`];

const beingVerified = (count: number): string =>
  `${addresses(count)} ${count === 1 ? "is" : "are"} being verified.`;
