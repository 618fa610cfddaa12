import { readForm } from "@mailproof/api/http/form";
import { splitAt } from "../form.ts";

export type ReadPart = {
  readonly name: string;
  readonly fileName: string | null;
  readonly content: string;
};

/** All the parts of a form, and what is in them. */
export const readParts = async (
  contentType: string,
  body: string | Uint8Array,
  cuts: readonly number[] = [],
): Promise<ReadPart[]> => {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const parts: ReadPart[] = [];
  for await (const { content, ...field } of readForm(contentType, splitAt(bytes, cuts)))
    parts.push({
      ...field,
      content: Buffer.concat(await Array.fromAsync(content)).toString("latin1"),
    });
  return parts;
};
