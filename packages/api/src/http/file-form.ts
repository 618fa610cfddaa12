import { storeUpload } from "@mailproof/core/intake/uploads";
import type { Payer } from "@mailproof/core/money/payer";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import { CONTINUATION_TEXTS } from "../schema/continued-list.ts";
import {
  CallbackUrl,
  EmailColumn,
  EmailColumns,
  JobName,
  JobOptions,
} from "../schema/job-options.ts";
import type { Part } from "./endpoint.ts";
import { invalidField, parsePart } from "./parse.ts";

const TRUTH: Readonly<Record<string, boolean>> = {
  true: true,
  "1": true,
  false: false,
  "0": false,
};

const TruthText = v.optional(
  v.pipe(
    v.string(),
    v.toLowerCase(),
    v.check((text) => Object.hasOwn(TRUTH, text), "must be true or false"),
    v.transform((text) => TRUTH[text]),
  ),
);

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const readJson = (example: string) =>
  v.pipe(
    v.string(),
    v.check(isJson, `must be JSON, such as ${example}`),
    v.transform((text): unknown => JSON.parse(text)),
  );

/** The fields of `action: process` in a form, where every value is text. */
const Fields = v.strictObject({
  email_column: EmailColumn,
  email_columns: v.optional(v.pipe(readJson('["work","home"]'), EmailColumns.wrapped)),
  has_header: TruthText,
  skip_settled: TruthText,
  name: JobName,
  ...CONTINUATION_TEXTS,
  webhook_url: CallbackUrl,
  options: v.optional(v.pipe(readJson('{"deep_verify":false}'), JobOptions.wrapped), "{}"),
});

export type FileForm = v.InferOutput<typeof Fields> & {
  readonly fileKey: string;
  /** Hash of the content, so that the same file sent again counts as the same request. */
  readonly hash: string;
};

/** Reads the parts as a stream and stores the file under an upload's key. */
export const takeFileForm = async (
  world: World,
  payer: Payer,
  form: AsyncIterable<Part>,
): Promise<FileForm> => {
  let file: Pick<FileForm, "fileKey" | "hash"> | undefined;
  const texts = new Map<string, string>();
  for await (const part of form) {
    const { name } = part;
    if (texts.has(name) || (name === "file" && file)) throw invalidField(name, "is sent twice");
    if (name === "file") {
      const fileName = requireFileName(part);
      const named = { kind: getFileKind("file", fileName), name: fileName };
      const { key, hash } = await storeUpload(world, payer, named, part.content);
      file = { fileKey: key, hash };
    } else if (Object.hasOwn(Fields.entries, name)) texts.set(name, await readText(part));
    else throw invalidField(name, "is not a known field");
  }
  if (!file) throw invalidField("file", "is required");
  // A browser sends an empty text for an empty field, which counts as absent.
  const sent = Object.fromEntries([...texts].filter(([, text]) => text !== ""));
  return { ...parsePart(Fields, sent), ...file };
};

const requireFileName = ({ fileName }: Part): string => {
  if (!fileName) throw invalidField("file", "must be a file with a name");
  return fileName;
};

/** Decides by the file's name; the reader checks the content later. */
export const getFileKind = (field: string, name: string): "csv" | "txt" => {
  const kind = /\.(csv|txt)$/i.exec(name)?.[1]?.toLowerCase();
  if (kind === "csv" || kind === "txt") return kind;
  throw invalidField(field, "must end in .csv or .txt; save a spreadsheet as CSV");
};

const TEXT_BYTES_MAX = 10_240;

/** The form reader limits plain fields. This limits a field that is sent as a file, as some clients do with JSON. */
const readText = async ({ name, content }: Part): Promise<string> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    if (bytes > TEXT_BYTES_MAX)
      throw invalidField(name, `must have at most ${TEXT_BYTES_MAX} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
};
