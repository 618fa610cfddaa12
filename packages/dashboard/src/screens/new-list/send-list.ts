import type { PreviewFileData, ProcessFileData } from "@mailproof/client";
import { createRandomId } from "@mailproof/client/random-id";
import { API_URL } from "../../base.ts";
import { getClient, sessionId } from "../../session.ts";

/**
 * The intention to verify one list, created when its bytes are uploaded, which costs nothing. The history entry stores it, so that a reload
 * repeats the same request under the same Idempotency-Key, and is charged once.
 */
export type ListIntent = {
  readonly fileKey: string;
  readonly idempotencyKey: string;
  readonly name: string;
  readonly emailColumns: readonly number[];
  readonly hasHeader: boolean;
  /** Rows that another service has settled are left out. */
  readonly skipSettled?: boolean;
  /** The list that it continues, and for how many days results of that stay good. */
  readonly continues?: string;
  readonly freshDays?: number;
  readonly session: string;
  readonly at: number;
};

/** The API stores a response for a day. After that a repeat would be charged again. */
const REPEATABLE_MS = 12 * 60 * 60 * 1000;

export const readListIntent = (): ListIntent | null => {
  const { list } = (history.state as { readonly list?: ListIntent } | null) ?? {};
  // An intent of 0.2.0 has one column, and its request cannot be repeated.
  if (!list?.emailColumns || list.session !== sessionId.value) return null;
  return Date.now() - list.at < REPEATABLE_MS ? list : null;
};

export const forgetListIntent = (): void => history.replaceState(null, "");

type Progress = { readonly sent: number; readonly of: number };

export type ListToSend = {
  readonly file: Blob;
  readonly fileName: string;
  readonly name: string;
  readonly emailColumns: readonly number[];
  readonly hasHeader: boolean;
  readonly skipSettled: boolean;
};

/** The link may use another name of the server. The same path also works under the name of this page. */
const toOwnUrl = (uploadUrl: string): string => {
  const { pathname, search } = new URL(uploadUrl);
  const own = new URL(API_URL);
  const isOwn = pathname.startsWith(`${own.pathname.replace(/\/$/, "")}/blobs/`);
  return isOwn ? `${own.origin}${pathname}${search}` : uploadUrl;
};

/** Uses XMLHttpRequest, because fetch does not report the progress of an upload. */
const putFile = (
  url: string,
  file: Blob,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: Progress) => void },
): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (what: string) => () => reject(new Error(`${what} Retry uploads the list again.`));
    request.upload.addEventListener("progress", ({ loaded, total }) =>
      onProgress({ sent: loaded, of: total }),
    );
    request.addEventListener("load", () =>
      request.status < 300 ? resolve() : fail(`The upload was refused (${request.status}).`)(),
    );
    request.addEventListener("error", fail("The upload was interrupted."));
    request.addEventListener("abort", fail("The upload was cancelled."));
    signal.addEventListener("abort", () => request.abort());
    request.open("PUT", toOwnUrl(url));
    request.send(file);
  });

export const uploadList = async (
  { file, fileName, name, ...fields }: ListToSend,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<ListIntent> => {
  const upload = { file_name: fileName, file_size: file.size };
  const { upload_url, file_key } = await getClient().createUpload(upload, { signal });
  await putFile(upload_url, new Blob([file]), { signal, onProgress });
  const idempotencyKey = createRandomId();
  const session = sessionId.value;
  return {
    fileKey: file_key,
    idempotencyKey,
    name,
    ...fields,
    session,
    at: Date.now(),
  };
};

/** Charges the list once, however often it is called with one intent. */
export const processList = (intent: ListIntent): Promise<ProcessFileData> => {
  history.replaceState({ list: intent }, "");
  const { idempotencyKey, name, continues, freshDays } = intent;
  const input = {
    ...toFileFields(intent),
    ...(name !== "" && { name }),
    ...(continues !== undefined && { continues, fresh_days: freshDays }),
  };
  return getClient().processFile(input, { idempotencyKey });
};

const toFileFields = ({ fileKey, emailColumns, hasHeader, skipSettled }: ListIntent) => ({
  file_key: fileKey,
  email_columns: emailColumns.map(String),
  has_header: hasHeader,
  ...(skipSettled && { skip_settled: true }),
});

/** Compares the uploaded list with the one that it continues. Nothing is charged. */
export const compareList = (
  intent: ListIntent,
  { continues, freshDays }: { readonly continues: string; readonly freshDays: number },
  signal: AbortSignal,
): Promise<PreviewFileData> =>
  getClient().previewFile(
    { ...toFileFields(intent), continues, fresh_days: freshDays },
    { signal },
  );
