import type { Payer } from "@mailproof/core/access/payer";
import { putUpload } from "@mailproof/core/jobs/uploads";
import type { World } from "@mailproof/core/world";
import type { Part } from "./form.ts";
import { invalidField } from "./parse.ts";

/** A file and what is said about it, sent in one request. */
export type FileForm = {
  readonly fileKey: string;
  /** Stands for what is in the file: the same file sent again is the same request. */
  readonly hash: string;
  readonly emailColumn: string | undefined;
  readonly hasHeader: boolean | undefined;
};

const TRUTH: Readonly<Record<string, boolean>> = {
  true: true,
  "1": true,
  false: false,
  "0": false,
};

/** Reads the parts as they come; the file goes to where an upload would be. */
export const takeFileForm = async (
  world: World,
  payer: Payer,
  form: AsyncIterable<Part>,
): Promise<FileForm> => {
  let upload: { readonly key: string; readonly hash: string } | undefined;
  const said = new Map<string, string>();
  for await (const part of form) {
    const { name } = part;
    if (said.has(name) || (name === "file" && upload)) throw invalidField(name, "came twice");
    if (name === "file") upload = await putUpload(world, payer, kindOf(part), part.content);
    else if (name === "email_column" || name === "has_header") said.set(name, await textOf(part));
    else throw invalidField(name, "is not a known field");
  }
  if (!upload) throw invalidField("file", "is required");
  return {
    fileKey: upload.key,
    hash: upload.hash,
    emailColumn: said.get("email_column") || undefined,
    hasHeader: truthOf(said.get("has_header")),
  };
};

const truthOf = (text: string | undefined): boolean | undefined => {
  if (text === undefined || text === "") return undefined;
  const truth = TRUTH[text.toLowerCase()];
  if (truth === undefined) throw invalidField("has_header", "must be true or false");
  return truth;
};

const kindOf = ({ fileName }: Part): "csv" | "txt" => {
  if (!fileName) throw invalidField("file", "must be a file with a name");
  return kindOfFile("file", fileName);
};

/** By its name: what is really in it is looked at when it is read. */
export const kindOfFile = (field: string, name: string): "csv" | "txt" => {
  const kind = /\.(csv|txt)$/i.exec(name)?.[1]?.toLowerCase();
  if (kind === "csv" || kind === "txt") return kind;
  throw invalidField(field, "must end in .csv or .txt; save a spreadsheet as CSV");
};

/** A field is short: the form itself sees to that. */
const textOf = async ({ content }: Part): Promise<string> =>
  Buffer.concat(await Array.fromAsync(content)).toString();
