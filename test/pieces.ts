/** A source that gives these, one after the other, and ends. */
export async function* streamPieces(
  ...contents: readonly (string | Uint8Array)[]
): AsyncGenerator<Uint8Array> {
  for (const content of contents) yield Buffer.from(content);
}
