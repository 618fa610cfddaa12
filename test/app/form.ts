import { readForm } from "@mailproof/api/http/form";

export type FormPart = {
  readonly name: string;
  /** Given: the part is a file. */
  readonly fileName?: string;
  readonly content: string | Uint8Array;
};

/** A form as fetch sends it: what the reader has to understand is not of our own making. */
export const encodeForm = async (
  parts: readonly FormPart[],
): Promise<{ readonly contentType: string; readonly bytes: Buffer }> => {
  const form = new FormData();
  for (const { name, fileName, content } of parts)
    if (fileName === undefined) form.append(name, content.toString());
    else form.append(name, new Blob([Buffer.from(content)]), fileName);
  const sent = new Response(form);
  return {
    contentType: sent.headers.get("content-type") ?? "",
    bytes: Buffer.from(await sent.arrayBuffer()),
  };
};

/** The same bytes, cut at these places. */
export async function* splitAt(
  bytes: Uint8Array,
  cuts: readonly number[],
): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const to of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
    yield bytes.subarray(from, to);
    from = Math.max(from, to);
  }
}

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

/** A source that gives these, one after the other, and ends. */
export async function* streamPieces(
  ...contents: readonly (string | Uint8Array)[]
): AsyncGenerator<Uint8Array> {
  for (const content of contents) yield Buffer.from(content);
}
