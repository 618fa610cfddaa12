import type { AppWorld } from "@mailproof/core/app-world";
import { createCsvReader } from "@mailproof/core/intake/csv-reader";
import { send } from "../app/send.ts";
import { givenFileJob, givenSmallChunks, whenMessagesWorked } from "./export-jobs.ts";

export const whenExported = async (
  world: AppWorld,
  key: string,
  query: Readonly<Record<string, string>> = {},
  id = "job_1",
) => send(world, `GET /v1/jobs/${id}/download`, { key, query });

/** The bare JSON of an export. */
export const getJson = async (
  world: AppWorld,
  key: string,
  query: Readonly<Record<string, string>> = {},
  id = "job_1",
) => {
  const { statusCode, text } = await whenExported(world, key, { format: "json", ...query }, id);
  return { statusCode, ...JSON.parse(text) };
};

export const getRecords = (csv: string) => createCsvReader(",")(csv, true);

export const OURS = [
  "email",
  "status",
  "send",
  "quality_score",
  "reason",
  "sub_status",
  "provider",
  "mailbox_exists",
  "catch_all",
  "disposable",
  "role_account",
  "free_provider",
  "typo_suggestion",
  "verified_at",
];

/** A file whose addresses are all verified. */
export const givenFileDone = async (text: string, name?: string) => {
  const ctx = await givenSmallChunks();
  const job = await givenFileJob(ctx, { text, ...(name !== undefined && { name }) });
  await whenMessagesWorked(ctx);
  return { ...ctx, job };
};

/** One of each status, and one more that a filter has to take with it. */
export const EACH = [
  "ann@x.com",
  "invalid@x.com",
  "full@x.com",
  "blocked@x.com",
  "catch_all@x.com",
  "ann@disposable.x.com",
  "info@x.com",
  "spam_trap@x.com",
  "disabled@x.com",
];

export const givenOneOfEach = () => givenFileDone(`email\n${EACH.join("\n")}\n`);
