import { type Client, createClient as create } from "./client.ts";
import type { ClientOptions } from "./options.ts";

export type { Client } from "./client.ts";
export type { Download } from "./download.ts";
export { type ErrorCode, MailproofError, type MoneyOutcome } from "./errors.ts";
export type { FileSource } from "./file-source.ts";
export type { JobInput, WaitOptions } from "./jobs.ts";
export type { CallOptions, ClientOptions, PaidCallOptions } from "./options.ts";
export type * from "./types.ts";
export type {
  FileProgress,
  UploadInput,
  VerifiedFile,
  VerifyFileInput,
  VerifyFileOptions,
} from "./verify-file.ts";
export {
  verifyWebhook,
  WebhookError,
  type WebhookFault,
  type WebhookInput,
} from "./webhooks.ts";

/** Creates a client of one service with one key. The client has no state besides its options. */
export const createClient = (options?: ClientOptions): Client => create(options);
