import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createPace, type Pace } from "./pace.ts";

/**
 * Writes a body of unknown length as fast as the client reads it. When the client hangs up or reads too slowly, the
 * source is closed. An error of the source is thrown: the caller must break the connection, or a truncated file would
 * pass for a complete one.
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
