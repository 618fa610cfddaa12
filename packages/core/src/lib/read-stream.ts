/** Iterates a stream with its reader, because some browsers cannot iterate a stream. */
export async function* readStream(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // A consumer that stops early would otherwise leave the source open.
    await reader.cancel().catch(() => undefined);
  }
}
