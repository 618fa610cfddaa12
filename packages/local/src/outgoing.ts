import { once } from "node:events";
import type { ServerResponse } from "node:http";

/**
 * Writes a body whose length nobody knows, as fast as the client reads it. When the client hangs up, nothing more is
 * asked of the source, and it is closed. What the source throws is thrown on: whoever called must break the
 * connection, or half a file would pass for the whole.
 */
export const poured = async (
  stream: AsyncIterable<string | Uint8Array>,
  outgoing: ServerResponse,
): Promise<void> => {
  const hungUp = new AbortController();
  outgoing.once("close", () => hungUp.abort());
  for await (const piece of stream) {
    if (outgoing.destroyed) return;
    if (outgoing.write(piece)) continue;
    await once(outgoing, "drain", { signal: hungUp.signal }).catch(() => undefined);
  }
  outgoing.end();
};
