import { existsSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { withoutSlashes } from "@mailproof/api/http/router";
import * as v from "valibot";
import { type Environment, NotEmpty, numeric } from "../environment.ts";
import { createBackup } from "../storage/backup.ts";
import { findOld, toBackupName } from "../storage/backup-names.ts";
import { recordBackup } from "../storage/last-backup.ts";
import { backUpToS3, type S3Folder } from "../storage/s3-backup.ts";
import { type AdminResult, definePrinted } from "./define-admin.ts";
import { assertStateFolder } from "./define-app-command.ts";
import { UsageError } from "./define-command.ts";

const backupOptions = v.strictObject({
  to: NotEmpty,
  keep: v.optional(numeric(/^[1-9]\d{0,2}$/, "must be a number from 1 to 999")),
});

type Options = v.InferOutput<typeof backupOptions>;
type Folder = Pick<Environment, "MAILPROOF_DIR">;

export const runBackup = async (
  { MAILPROOF_DIR }: Folder,
  { to, keep }: Options,
): Promise<AdminResult> => {
  const folder = keep === undefined ? resolve(to) : join(resolve(to), toBackupName(new Date()));
  assertStateFolder(MAILPROOF_DIR);
  if (existsSync(folder)) throw new UsageError(`${folder} already exists.`);
  const { at, files } = await createBackup(MAILPROOF_DIR, folder).catch(failTo(folder));
  recordBackup(MAILPROOF_DIR, at);
  const removed = keep === undefined ? [] : removeOld(resolve(to), keep);
  return { output: { folder, as_of: at.toISOString(), files, ...(keep && { removed }) } };
};

const removeOld = (parent: string, keep: number): readonly string[] => {
  const old = findOld(readdirSync(parent), keep);
  for (const name of old) rmSync(join(parent, name), { recursive: true });
  return old;
};

const failTo = (target: string) => (cause: Error) => {
  throw new Error(`The backup to ${target} failed: ${cause.message}`, { cause });
};

const runS3Backup = async ({ MAILPROOF_DIR }: Folder, { to, keep }: Options, target: S3Folder) => {
  assertStateFolder(MAILPROOF_DIR);
  const made = await backUpToS3(MAILPROOF_DIR, target, keep).catch(failTo(to));
  const { at, files, name, removed } = made;
  const object = `${withoutSlashes(to)}/${name}`;
  return { output: { object, as_of: at.toISOString(), files, ...(keep && { removed }) } };
};

/** A backup contains every address and secret of the service, so only a store on this machine gets it without TLS. */
const isSafeEndpoint = (endpoint: string): boolean => {
  const { protocol, hostname } = URL.parse(endpoint) ?? {};
  const isOwn = ["localhost", "127.0.0.1", "[::1]"].includes(hostname ?? "");
  return protocol === "https:" || (protocol === "http:" && isOwn);
};

const S3_URL = /^s3:\/\/([a-z\d][a-z\d.-]+)(?:\/(.*))?$/;
const PAUSES_MS = [1_000, 10_000];

/** Reads the settings of AWS's own programs. Undefined when `to` is a folder of this machine. */
const readS3Folder = (to: string, settings: NodeJS.ProcessEnv): S3Folder | undefined => {
  if (!to.startsWith("s3://")) return undefined;
  const [isUrl, name = "", folder = ""] = S3_URL.exec(withoutSlashes(to)) ?? [];
  if (!isUrl) throw new UsageError(`--to must be like s3://bucket/folder: ${to}`);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  if (!accessKeyId || !secretAccessKey)
    throw new UsageError(
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and for other stores than AWS's AWS_ENDPOINT_URL_S3.",
    );
  const region = settings["AWS_REGION"] || "us-east-1";
  const endpoint = settings["AWS_ENDPOINT_URL_S3"] || `https://s3.${region}.amazonaws.com`;
  if (!isSafeEndpoint(endpoint))
    throw new UsageError(
      `AWS_ENDPOINT_URL_S3 must be a URL such as https://s3.example.com: ${endpoint}`,
    );
  const sessionToken = settings["AWS_SESSION_TOKEN"] || undefined;
  const url = `${withoutSlashes(endpoint)}/${name}`;
  const bucket = { url, region, accessKeyId, secretAccessKey, sessionToken, pausesMs: PAUSES_MS };
  return { bucket, prefix: folder === "" ? "" : `${folder}/` };
};

export const backupCommand = definePrinted(
  { usage: "--to FOLDER|s3://BUCKET/FOLDER [--keep N]", options: backupOptions },
  async ({ environment, options }) => {
    const target = readS3Folder(options.to, process.env);
    return target ? runS3Backup(environment, options, target) : runBackup(environment, options);
  },
);
