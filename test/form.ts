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
