import type { AppWorld } from "@mailproof/core/app-world";
import type { FormPart } from "../app/form.ts";
import { streamPieces } from "../app/form.ts";
import { type Given, given } from "../app/given.ts";
import { send, type TestResponse } from "../app/send.ts";

// What the stories of jobs of many addresses have in common.

export type TestContext = Awaited<ReturnType<typeof given>>;

type Chunked = Given & { readonly rows?: number };

/** An app with small chunks, so that a short list has many. */
export const givenChunked = async ({ rows = 2, ...how }: Chunked = {}): Promise<TestContext> => {
  const ctx = await given({ balance: 100, ...how });
  const settings = { ...ctx.world.settings, chunkRows: { batch: rows, file: rows } };
  return { ...ctx, world: { ...ctx.world, settings } };
};

/** ann1@x.com, ann2@x.com, … */
export const createEmails = (count: number): string[] =>
  Array.from({ length: count }, (_row, n) => `ann${n + 1}@x.com`);

/** With this line for a header: how a list looks as a file. */
export const formatCsv = (emails: readonly string[], header = "email"): string =>
  `${[header, ...emails].join("\n")}\n`;

const BATCH = "POST /v1/verify/batch";
const FILE = "POST /v1/verify/file";

const createKeyHeader = (idempotencyKey: string | undefined) =>
  idempotencyKey === undefined ? {} : { headers: { "idempotency-key": idempotencyKey } };

export const whenBatched = (
  world: AppWorld,
  key: string,
  body: unknown,
  idempotencyKey?: string,
): Promise<TestResponse> => send(world, BATCH, { key, body, ...createKeyHeader(idempotencyKey) });

export const whenFiled = (
  world: AppWorld,
  key: string,
  body: unknown,
  idempotencyKey?: string,
): Promise<TestResponse> => send(world, FILE, { key, body, ...createKeyHeader(idempotencyKey) });

export const whenFormSent = (
  world: AppWorld,
  key: string,
  form: readonly FormPart[],
  idempotencyKey?: string,
): Promise<TestResponse> => send(world, FILE, { key, form, ...createKeyHeader(idempotencyKey) });

/** The blob behind an upload link, filled as the holder of the link would fill it. */
export const givenUpload = async (
  { world }: Pick<TestContext, "world">,
  key: string,
  content: string | Uint8Array,
): Promise<string> => {
  const request = { action: "get_upload_url", file_name: "list.csv" };
  const { data } = await whenFiled(world, key, request);
  await whenPut(world, data.file_key, content);
  return data.file_key;
};

export const whenPut = async (
  { blobs }: Pick<AppWorld, "blobs">,
  fileKey: string,
  content: string | Uint8Array,
): Promise<void> => void (await blobs.put(fileKey, streamPieces(content)));

export const createProcessRequest = (fileKey: string, more: object = {}) => ({
  action: "process",
  file_key: fileKey,
  ...more,
});

/** Uploaded and processed at once, by the live key. */
export const whenProcessed = async (
  ctx: Pick<TestContext, "world" | "liveKey">,
  emails: readonly string[],
  idempotencyKey?: string,
): Promise<TestResponse> => {
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(emails));
  return whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey), idempotencyKey);
};

export const readJob = async (
  { world, liveKey }: Pick<TestContext, "world" | "liveKey">,
  id = "job_1",
  key = liveKey,
): Promise<any> => (await send(world, `GET /v1/jobs/${id}`, { key })).data;

/** The results in the order in which they are reported: the row, its address and its status. */
export const formatRows = (job: any): string[] =>
  (job.results ?? []).map(
    ({ row, email, status }: { row: number; email: string; status: string }) =>
      `${row} ${email} ${status}`,
  );

/** The request bodies and the form part of verifyFile that tests change one field of. */
export const UPLOADING = { action: "get_upload_url", file_name: "list.csv" };
export const PROCESSING = createProcessRequest("uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv");
export const FILE_PART = {
  name: "file",
  fileName: "list.csv",
  content: formatCsv(createEmails(2)),
};
