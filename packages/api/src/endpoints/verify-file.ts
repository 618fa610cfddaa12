import { withMoney } from "@mailproof/core/failure";
import type { FileTold } from "@mailproof/core/jobs/dispatch";
import { acceptFile, type FileWish } from "@mailproof/core/jobs/file";
import { newUpload } from "@mailproof/core/jobs/uploads";
import { type Halves, PRICE, toCredits } from "@mailproof/core/money/credits";
import { remainingOf } from "@mailproof/core/money/remaining";
import type { Json } from "@mailproof/core/table";
import type { World } from "@mailproof/core/world";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { endpoint } from "../http/endpoint.ts";
import { type FileForm, kindOfFile, takeFileForm } from "../http/file-form.ts";
import { keyedBy } from "../http/idempotency.ts";
import {
  Count,
  Credits,
  charactersUpTo,
  KEYED_ERRORS,
  notEmpty,
  optional,
  PAID_ERRORS,
} from "../schema/common.ts";
import {
  CallbackUrl,
  EmailColumn,
  fingerprinted,
  JobName,
  JobOptions,
  wantsOf,
} from "../schema/job-options.ts";
import { assertMayCall } from "../schema/outgoing-url.ts";
import { ListFacts, toListFacts } from "../schema/uploaded-list.ts";

const ROUTE = "POST /v1/verify/file";
const NAME_LENGTH_MAX = 255;

const FileName = v.pipe(v.string(), notEmpty, charactersUpTo(NAME_LENGTH_MAX));

const Upload = v.object({
  upload_url: v.string(),
  file_key: v.string(),
  expires_in_seconds: Count,
  next_step: v.string(),
});

const Accepted = v.object({
  job_id: v.string(),
  status: v.picklist(["processing", "enqueue_unknown"]),
  total_submitted: Count,
  duplicates_removed: Count,
  invalid_emails_skipped: Count,
  unique_emails: Count,
  file: v.optional(ListFacts),
  credits_used: Credits,
  credits_remaining: v.optional(Credits),
  credits_refunded: v.optional(Credits),
  credits_held: v.optional(Credits),
  enqueue_unknown: v.optional(Count),
  dispatch_in_progress: v.optional(v.boolean()),
  dispatch_settlement_pending: v.optional(v.boolean()),
  idempotent_replay: v.optional(v.boolean()),
  message: v.string(),
});

export const verifyFile = endpoint({
  id: "verifyFile",
  route: ROUTE,
  tag: "Verification",
  summary:
    "Verify the addresses of a CSV or TXT file as a job: ask for an upload, put the file, process it.",
  price:
    "1 credit for each different address, when the job is accepted. Uploading costs nothing. An `unknown` that only says that no mail server was asked (`deep_verify: false`) is refunded when the job ends.",
  access: "verification:write",
  needs: ["table:readwrite", "blobs:read", "blobs:write", "queue:send", "https"],
  keyed: true,
  form: true,
  tool: {
    effect: "additive",
    hint: "First call action get_upload_url with file_name. Then the user must PUT the file's bytes to upload_url. Then call action process with file_key, and follow the job_id with get_job.",
  },
  actions: {
    get_upload_url: { id: "createUpload", repeat: "always" },
    process: { id: "processFile" },
  },
  answers: [200, 202],
  errors: [...KEYED_ERRORS, ...PAID_ERRORS, "NOT_FOUND"],

  body: v.variant(
    "action",
    [
      v.strictObject({
        action: v.literal("get_upload_url"),
        file_name: FileName,
      }),
      v.strictObject({
        action: v.literal("process"),
        file_key: v.pipe(v.string(), notEmpty),
        email_column: EmailColumn,
        has_header: optional(v.boolean("must be true or false")),
        name: JobName,
        webhook_url: CallbackUrl,
        options: JobOptions,
      }),
    ],
    "must be get_upload_url or process",
  ),
  output: v.union([Upload, Accepted]),

  async handle(world, caller, { body, form, key }) {
    if (form) {
      const sent = await takeFileForm(world, caller, form);
      const wish = await wishOf(world, sent, { fileKey: sent.fileKey, field: "file" });
      return process(world, caller, wish, { key, request: requestOf(sent) });
    }
    if (body.action === "get_upload_url")
      return { status: 200, data: await upload(world, caller, body.file_name) };
    const wish = await wishOf(world, body, { fileKey: body.file_key, field: "file_key" });
    return process(world, caller, wish, { key, request: fingerprinted(body) });
  },
});

/** What is said about a file, in a body or in a form. */
type Said = {
  readonly email_column?: string | undefined;
  readonly has_header?: boolean | undefined;
  readonly name?: string | undefined;
  readonly webhook_url?: string | undefined;
  readonly options: Parameters<typeof wantsOf>[0];
};

const wishOf = async (
  world: World,
  { email_column, has_header, name, webhook_url: url, options }: Said,
  file: Pick<FileWish, "fileKey" | "field">,
): Promise<FileWish> => {
  if (url !== undefined) await assertMayCall(world, "webhook_url", url);
  const callback = url === undefined ? null : { url, secret: null };
  const columns = { emailColumn: email_column, hasHeader: has_header };
  return { ...file, ...columns, name: name ?? null, wants: wantsOf(options), callback };
};

/** What makes two forms the same request. A field that release 0.1.0 did not know counts only where it was sent. */
const requestOf = ({ hash, email_column, has_header, sent }: FileForm): Json => {
  const { name, webhook_url, options } = sent;
  return {
    hash,
    emailColumn: email_column ?? null,
    hasHeader: has_header ?? null,
    ...(name !== undefined && { name }),
    ...(webhook_url !== undefined && { webhook_url }),
    ...(options !== undefined && { options: JSON.parse(options) as Json }),
  };
};

const upload = async (world: World, caller: Caller, fileName: string) => {
  const kind = kindOfFile("file_name", fileName);
  const file = { kind, name: fileName };
  const { url, key, expiresInSeconds } = await newUpload(world, caller, file);
  return {
    upload_url: url,
    file_key: key,
    expires_in_seconds: expiresInSeconds,
    next_step:
      "PUT the file, unchanged, to upload_url; then POST here again with action process and this file_key.",
  };
};

type Sent = { readonly key: string | null; readonly request: Json };

const process = async (world: World, caller: Caller, wish: FileWish, { key, request }: Sent) => {
  const told = await acceptFile(world, caller, wish, keyedBy(ROUTE, caller, key, request));
  const remaining = await remainingOf(world.table, caller);
  const { totalSubmitted, duplicatesRemoved, invalidSkipped, unique, list } = told.counts;
  const data = {
    job_id: told.job,
    status: statusOf(told),
    total_submitted: totalSubmitted,
    duplicates_removed: duplicatesRemoved,
    invalid_emails_skipped: invalidSkipped,
    unique_emails: unique,
    ...(list && { file: toListFacts(list) }),
    ...(remaining !== undefined && { credits_remaining: toCredits(remaining) }),
    ...moneyOf(told, caller),
  };
  // Whoever repeats it without a key pays again, so nobody is asked to.
  const isToRepeat = "waitMs" in told && key !== null;
  const retryAfter = isToRepeat && { "retry-after": String(Math.ceil(told.waitMs / 1000)) };
  return { status: 202 as const, data, ...(retryAfter && { headers: retryAfter }) };
};

const statusOf = (told: FileTold) =>
  "dispatched" in told && told.dispatched.unknown > 0
    ? ("enqueue_unknown" as const)
    : ("processing" as const);

const moneyOf = (told: FileTold, { mode }: Caller) => {
  const creditsUsed = { credits_used: mode === "test" ? 0 : toCredits(told.price) };
  if ("waitMs" in told) return { ...creditsUsed, ...UNDER_WAY[told.how] };
  return { ...creditsUsed, ...dispatchedOf(told, mode), ...replayOf(told) };
};

/** Not at its end yet: what a repeat under the same key is told, and whoever does not know whether it settled. */
const UNDER_WAY = {
  dispatching: {
    dispatch_in_progress: true,
    message: withMoney(
      "A request with this Idempotency-Key is still queueing the addresses.",
      "nothing_more",
    ),
  },
  settling: {
    dispatch_settlement_pending: true,
    message: withMoney(
      withMoney(
        "The addresses are queued; their credits are not settled yet. Follow the job.",
        "nothing_more",
      ),
      "repeat_charges",
    ),
  },
};

const replayOf = ({ how }: FileTold) => (how === "replayed" ? { idempotent_replay: true } : {});

const dispatchedOf = (
  { dispatched: { refused, unknown }, counts, how }: Extract<FileTold, { dispatched: unknown }>,
  mode: Caller["mode"],
) => {
  const priceOf = (addresses: number) =>
    mode === "test" ? 0 : toCredits((addresses * PRICE.fileAddress) as Halves);
  const sentences = [
    how === "replayed"
      ? withMoney("This is the earlier submission with this Idempotency-Key.", "nothing_more")
      : beingVerified(counts.unique - refused),
    ...otherColumns(counts.list?.otherEmailColumns ?? []),
    ...(refused > 0
      ? [withMoney(`${addresses(refused)} could not be queued.`, "partly_refunded")]
      : []),
    ...(unknown > 0
      ? [withMoney(`${addresses(unknown)} may or may not be queued.`, "partly_held")]
      : []),
  ];
  return {
    ...(refused > 0 && { credits_refunded: priceOf(refused) }),
    ...(unknown > 0 && { credits_held: priceOf(unknown), enqueue_unknown: unknown }),
    message: sentences.join(" "),
  };
};

const addresses = (count: number): string => (count === 1 ? "1 address" : `${count} addresses`);

/** A job verifies one column. Without this sentence the caller could miss that the list has another one. */
const otherColumns = (names: readonly string[]): readonly string[] =>
  names.map((name) => `Column ${JSON.stringify(name)} also holds addresses and is not verified.`);

const beingVerified = (count: number): string =>
  `${addresses(count)} ${count === 1 ? "is" : "are"} being verified.`;
