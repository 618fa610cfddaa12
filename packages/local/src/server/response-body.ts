import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createPace, type Pace } from "./pace.ts";

/**
 * Writes a body whose length nobody knows, as fast as the client reads it. When the client hangs up, nothing more is
 * asked of the source, and it is closed; the same when the client takes it too slowly. What the source throws is thrown on: whoever called must break the
 * connection, or half a file would pass for the whole.
 */
export const pipeToResponse = async (
  stream: AsyncIterable<string | Uint8Array>,
  outgoing: ServerResponse,
  pace: Pace = createPace(),
): Promise<void> => {
  const hungUp = new AbortController();
  outgoing.once("close", () => hungUp.abort());
  for await (const piece of stream) {
    if (outgoing.destroyed) return;
    pace.addBytes(Buffer.byteLength(piece));
    if (outgoing.write(piece)) continue;
    await pace.waitFor(once(outgoing, "drain", { signal: hungUp.signal }).catch(() => undefined));
    if (pace.isTooSlow()) return void outgoing.destroy();
  }
  outgoing.end();
};
