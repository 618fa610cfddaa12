import type { IncomingMessage } from "node:http";
import { brokenOff } from "@mailproof/api/body";

/** The body of a request, up to a size. The connection stays open, so that an answer can still be sent. */
export async function* upTo(
  bytesMax: number,
  incoming: IncomingMessage,
  tooLarge: () => Error,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  const chunks: AsyncIterable<Buffer> = incoming.iterator({ destroyOnReturn: false });
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge();
      yield chunk;
    }
  } catch (cause) {
    // Whoever hangs up in the middle is no fault of ours, and nothing for the log.
    throw incoming.errored === cause ? brokenOff(cause) : cause;
  }
}

const DISCARD_BYTES_MAX = 64_000_000;
const DISCARD_MS = 2_000;

/**
 * Reads on to the end of a body that nobody wants: a client that is still sending does not hear an answer. True
 * when the end was reached. A client that sends too much, or nothing for too long, is answered in between.
 */
export const discarded = async (incoming: IncomingMessage): Promise<boolean> => {
  if (incoming.complete) return true;
  if (incoming.destroyed) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let bytes = 0;
  const timer = setTimeout(() => resolve(false), DISCARD_MS);
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARD_BYTES_MAX) resolve(false);
    timer.refresh();
  });
  incoming.once("end", () => resolve(true));
  incoming.once("close", () => resolve(incoming.complete));
  const ended = await promise;
  clearTimeout(timer);
  return ended;
};
