/** Not every browser can iterate a stream. */
export async function* readStream(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // For a reader that stops early: otherwise the source stays open.
    await reader.cancel().catch(() => undefined);
  }
}
