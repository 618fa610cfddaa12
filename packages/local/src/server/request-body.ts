import type { IncomingMessage } from "node:http";
import { brokenOff, tooSlow } from "@mailproof/api/http/body";
import { BYTES_PER_SECOND_MIN, createPace, type Pace } from "./pace.ts";

/** The bytes that a chunked body reserves at a time. */
const BLOCK_BYTES = 100_000;

/**
 * The body of a request, up to a size. The connection stays open for the response. `hold` takes the memory of a body that
 * is gathered, or throws: by its declared length before the first byte, or in blocks as it comes.
 */
export async function* readUpTo(
  bytesMax: number,
  incoming: IncomingMessage,
  tooLarge: () => Error,
  hold: (bytes: number) => void = () => undefined,
  pace: Pace = createPace(),
): AsyncGenerator<Buffer> {
  let room = Number(incoming.headers["content-length"] ?? 0);
  if (room > bytesMax) throw tooLarge();
  hold(room);
  let bytes = 0;
  const chunks: AsyncIterator<Buffer> = incoming.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const { done, value: chunk } = await pace.waitFor(chunks.next());
      if (done) return;
      bytes += chunk.length;
      pace.addBytes(chunk.length);
      if (bytes > bytesMax) throw tooLarge();
      for (; bytes > room; room += BLOCK_BYTES) hold(BLOCK_BYTES);
      if (pace.isTooSlow()) throw tooSlow(BYTES_PER_SECOND_MIN);
      yield chunk;
    }
  } catch (cause) {
    // A client that hangs up in the middle is not an error to log.
    throw incoming.errored === cause ? brokenOff(cause) : cause;
  } finally {
    await chunks.return?.();
  }
}

/**
 * Allows one read of all drained bodies in each turn of the event loop. A request takes dozens of turns: twenty bodies at
 * a time would make each of them twenty times as long.
 */
const createTurns = () => {
  const waiting: (() => void)[] = [];
  const takeNext = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(takeNext);
  };
  return (go: () => void): void => {
    if (waiting.push(go) === 1) setImmediate(takeNext);
  };
};
const waitForTurn = createTurns();

const DRAIN_BYTES_MAX = 64_000_000;
const DRAIN_IDLE_MS = 2_000;
/** Without this limit, a client that sends a byte every second could keep its connection forever. */
const DRAIN_TOTAL_MS = 20_000;

/**
 * Drains the rest of an unused body: a client that is still sending does not read the response. True
 * when the end was reached. A client that sends too much, or nothing for too long, gets the response before its end.
 */
export const drainBody = async (incoming: IncomingMessage): Promise<boolean> => {
  if (incoming.complete) return true;
  if (incoming.destroyed) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let bytes = 0;
  const timer = setTimeout(() => resolve(false), DRAIN_IDLE_MS);
  const last = setTimeout(() => resolve(false), DRAIN_TOTAL_MS);
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DRAIN_BYTES_MAX) resolve(false);
    timer.refresh();
    incoming.pause();
    waitForTurn(() => incoming.resume());
  });
  incoming.once("end", () => resolve(true));
  incoming.once("close", () => resolve(incoming.complete));
  const ended = await promise;
  clearTimeout(timer);
  clearTimeout(last);
  return ended;
};
