import { randomUUID } from "node:crypto";
import { MailproofError } from "@mailproof/client/errors";
import type { PreviewFileData, ProcessFileData } from "@mailproof/client/types";
import { PROGRAM } from "../installation.ts";
import {
  createState,
  type JobInputs,
  type JobState,
  type ListFields,
  removeState,
  saveState,
} from "./job-state.ts";
import { writeNote } from "./notes.ts";
import { formatCount } from "./progress.ts";
import type { Service } from "./service.ts";
import { createStatusLines } from "./status-lines.ts";
import { replaceControls } from "./terminal.ts";

export type ListSubmission = {
  readonly path: string;
  readonly name: string;
  readonly stateFile: string;
  readonly inputs: JobInputs;
  readonly assertOutWritable: () => void;
};

/** Uploads and submits a list, which charges the account. Writes the state before the submission. */
export const submitList = async (
  service: Service,
  list: ListSubmission,
  signal: AbortSignal,
): Promise<JobState> => {
  const { path, name, stateFile, inputs } = list;
  const { fields, ...same } = inputs;
  const { file_key } = await runWithStatusLine(`Uploading ${name} …`, () =>
    service.client.upload(path, { file_name: toUploadName(name) }, { signal }),
  );
  const state = createOrWarn(stateFile, {
    version: 1,
    started_at: new Date().toISOString(),
    ...same,
    idempotency_key: randomUUID(),
    request: { file_key, name, ...fields },
  });
  assertStillWritable(list);
  return sendRequest(service, stateFile, state, signal).catch((error: unknown) => {
    // This process sent the only request, so its response decides for the whole job.
    if (isNotCharged(error)) removeState(stateFile);
    throw explainDoubt(error, stateFile);
  });
};

/** Compares a list with the list that it continues, and prints the price without a charge. */
export const previewList = async (
  { client }: Service,
  { path, name }: Pick<ListSubmission, "path" | "name">,
  fields: Omit<ListFields, "options">,
): Promise<PreviewFileData> => {
  const { file_key } = await runWithStatusLine(`Uploading ${name} …`, () =>
    client.upload(path, { file_name: toUploadName(name) }),
  );
  return client.previewFile({ file_key, ...fields });
};

/** The service accepts only text, and a spreadsheet has become text by now. */
const toUploadName = (name: string): string =>
  /\.(?:csv|txt)$/i.test(name) ? name : `${name.replace(/\.(?:xlsx|tsv)$/i, "")}.csv`;

/** Another process with the same output may have just ended, because a process writes its output before it removes its state. */
const assertStillWritable = ({ stateFile, assertOutWritable }: ListSubmission): void => {
  try {
    assertOutWritable();
  } catch (error) {
    removeState(stateFile);
    throw error;
  }
};

/** The service keeps a key for 30 days; later it would charge the same request again. */
const KEY_RETENTION_MS = 29 * 86_400_000;

/** Continues after a kill: sends the same request under the same key, which is charged once. */
export const resubmitList = async (
  service: Service,
  list: ListSubmission,
  state: JobState,
  signal: AbortSignal,
): Promise<JobState> => {
  const { stateFile } = list;
  writeNote(
    `Resuming from ${stateFile}: this command was started at ${state.started_at} and got no response whether the list was accepted.\n`,
  );
  const isKeyRetained = Date.now() - Date.parse(state.started_at) < KEY_RETENTION_MS;
  if (!isKeyRetained)
    throw new MailproofError(
      `${stateFile} is more than 29 days old, so the service no longer knows whether the list was accepted, and it may have been charged. See ${PROGRAM} jobs. To start a new job, remove ${stateFile}.`,
      { code: "INVALID_REQUEST", money: "unknown", status: 400 },
    );
  try {
    return await sendRequest(service, stateFile, state, signal);
  } catch (error) {
    // The service looks for the key before it looks for the upload, so the key was never used.
    const isUploadGone = error instanceof MailproofError && error.code === "NOT_FOUND";
    if (!isUploadGone) throw explainDoubt(error, stateFile, true);
    removeState(stateFile);
    return submitList(service, list, signal);
  }
};

const sendRequest = async (
  { client }: Service,
  stateFile: string,
  state: JobState,
  signal: AbortSignal,
): Promise<JobState> => {
  const { request, idempotency_key: idempotencyKey } = state;
  const accepted = await runWithStatusLine(`The service is reading ${request.name} …`, () =>
    client.processFile(request, { signal, idempotencyKey }),
  );
  const { job_id } = accepted;
  const sentences = [accepted.message, describeCounts(accepted), ...describeFile(accepted)];
  writeNote(`${job_id}: ${sentences.join(" ")}\n`);
  const stateWithJob = { ...state, job_id };
  try {
    saveState(stateFile, stateWithJob);
  } catch {
    // A warning told the caller when the file could not be created.
  }
  return stateWithJob;
};

/** Only warns of a failure, because the folder of a list may be read-only when the results go to standard output. */
const createOrWarn = (stateFile: string, state: JobState): JobState => {
  try {
    return createState(stateFile, state);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(
      `${stateFile} cannot be written (${why}). If this command is killed, starting it again starts a new job, which is charged again.\n`,
    );
    return state;
  }
};

const runWithStatusLine = async <T>(text: string, work: () => Promise<T>): Promise<T> => {
  const lines = createStatusLines(process.stderr);
  lines.show([[text]]);
  return work().finally(lines.end);
};

const describeCounts = (accepted: ProcessFileData): string => {
  const { credits_used, duplicates_removed, invalid_emails_skipped, idempotent_replay } = accepted;
  const credits = `${formatCount(credits_used)} ${credits_used === 1 ? "credit" : "credits"}`;
  const charged = `${idempotent_replay === true ? "Charged before" : "Charged"}: ${credits}.`;
  const leftOut = [
    ...(duplicates_removed > 0
      ? [formatRows(duplicates_removed, "duplicate row", "duplicate rows")]
      : []),
    ...(invalid_emails_skipped > 0
      ? [formatRows(invalid_emails_skipped, "row without an address", "rows without an address")]
      : []),
  ];
  return leftOut.length === 0 ? charged : `${charged} Left out: ${leftOut.join(", ")}.`;
};

const SKIPPED_SHOWN = 3;

const describeFile = ({ file }: ProcessFileData): readonly string[] => {
  if (file === undefined) return [];
  const { email_column, email_columns = [email_column], skipped_rows } = file;
  const { other_email_columns: others } = file;
  const skipped = skipped_rows
    .slice(0, SKIPPED_SHOWN)
    .map(({ row, text }) => `row ${row} "${replaceControls(text)}"`);
  return [
    ...(skipped.length > 0 ? [`Skipped: ${skipped.join(", ")}.`] : []),
    ...(others.length > 0
      ? [
          `The addresses are those of column ${listNames(email_columns)}. Not verified: ${listNames(others)}; to choose columns, add --column NAME for each.`,
        ]
      : []),
  ];
};

const listNames = (names: readonly string[]): string => names.map(replaceControls).join(", ");

const formatRows = (rows: number, one: string, more: string): string =>
  `${formatCount(rows)} ${rows === 1 ? one : more}`;

const isNotCharged = (error: unknown): boolean =>
  error instanceof MailproofError &&
  (error.money === "nothing_charged" || error.money === "refunded");

/** Replaces the client's sentence about idempotency keys, because on the terminal the same command resumes. */
const explainDoubt = (error: unknown, stateFile: string, isRepeat = false): unknown => {
  if (!(error instanceof MailproofError)) return error;
  if (!isRepeat && error.money !== "retry_same_key") return error;
  const { code, status } = error;
  const why =
    code === "ABORTED" ? "Interrupted." : error.message.replace(/ It may have been .*/, "");
  return new MailproofError(
    `${why}\nIt is not known whether the list was accepted, and it may have been charged. Run the same command again: it continues from ${stateFile}, and nothing is charged twice.`,
    { code, money: "retry_same_key", status, cause: error },
  );
};
