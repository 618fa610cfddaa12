import type { IncomingMessage } from "node:http";

/** The body of a request, up to a size. The connection stays open, so that an answer can still be sent. */
export async function* upTo(
  bytesMax: number,
  incoming: IncomingMessage,
  tooLarge: () => Error,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  const chunks: AsyncIterable<Buffer> = incoming.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge();
    yield chunk;
  }
}

const DISCARD_BYTES_MAX = 64_000_000;

/**
 * Reads on to the end of a body that nobody wants. A client that is still sending does not hear an answer,
 * and bytes left over would be taken for its next request. A client that never ends is hung up on.
 */
export const discard = async (incoming: IncomingMessage): Promise<void> => {
  if (incoming.complete) return;
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > DISCARD_BYTES_MAX) return; // leaving the loop destroys the connection
  }
};
