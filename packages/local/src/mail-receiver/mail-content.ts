import type { Hold } from "@mailproof/core/lib/budget";
import type { World } from "@mailproof/core/ports/world";
import type { MailLimits } from "./limits.ts";
import type { MailWire } from "./mail-wire.ts";
import { REPLIES } from "./replies.ts";

// The content of a message, up to the line with a single dot. It is held in blocks of fixed size, so the client does not decide how many
// objects its bytes become.

export const BLOCK_BYTES = 65_536;

type Arrival = {
  readonly wire: MailWire;
  readonly limits: MailLimits;
  /** Content beyond the held bytes waits in the blobs. */
  readonly world: Pick<World, "blobs" | "newId">;
  readonly hold: Hold;
  readonly heldBytes: number;
  readonly onProgress: () => void;
};

/** `isWhole` is false when the connection ended early. With a `refusal`, the server reads the message to its end and drops it. */
type Content = { bytes: number; isWhole: boolean; refusal?: string };

export const readContent = async (arrival: Arrival): Promise<Content & { raw: Buffer }> => {
  const content: Content = { bytes: 0, isWhole: false };
  const { wire, limits } = arrival;
  let bytesBefore = 0;
  const watch = setInterval(() => {
    const isSlow = content.bytes - bytesBefore < limits.leastBytes;
    if (isSlow && !content.isWhole) wire.end(REPLIES.tooSlow);
    bytesBefore = content.bytes;
  }, limits.idleMs);
  const raw = await collect(arrival, content).finally(() => clearInterval(watch));
  return { ...content, raw };
};

const collect = async (arrival: Arrival, content: Content): Promise<Buffer> => {
  const { world, hold, heldBytes } = arrival;
  const blocks = readBlocks(arrival, content);
  const held: Buffer[] = [];
  let next = await blocks.next();
  while (!next.done && (held.length + 2) * BLOCK_BYTES <= heldBytes) {
    held.push(next.value);
    next = await blocks.next();
  }
  if (next.done) return Buffer.concat(held);
  const key = `mail/spool/${world.newId("txn")}`;
  try {
    await world.blobs.put(key, chain([...held.splice(0), next.value], blocks));
    if (!hold.more(Math.max(0, content.bytes - heldBytes))) content.refusal ??= REPLIES.noRoom;
    const isNeeded = content.isWhole && content.refusal === undefined;
    const raw = Buffer.allocUnsafeSlow(isNeeded ? content.bytes : 0);
    const spooled = isNeeded ? await world.blobs.get(key) : undefined;
    let at = 0;
    for await (const piece of spooled?.content ?? []) {
      raw.set(piece, at);
      at += piece.length;
    }
    if (at !== raw.length) throw new Error("a spooled message is not whole");
    return raw;
  } finally {
    await world.blobs.remove(key);
  }
};

async function* chain(held: readonly Buffer[], coming: AsyncIterable<Buffer>) {
  yield* held;
  yield* coming;
}

async function* readBlocks({ wire, limits, onProgress }: Arrival, content: Content) {
  const unstuff = createUnstuffer();
  let block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let filled = 0;
  while (!content.isWhole) {
    const bytes = await wire.readBytes();
    if (!bytes) return;
    const { text, after, hasBareLineEnd } = unstuff(bytes);
    content.bytes += text.length;
    content.isWhole = after !== undefined;
    if (after) wire.putBack(after);
    if (content.bytes > limits.messageBytesMax) content.refusal ??= REPLIES.tooLarge;
    if (hasBareLineEnd) content.refusal ??= REPLIES.bareInData;
    for (let from = 0; from < text.length && content.refusal === undefined; ) {
      const count = text.copy(block, filled, from);
      from += count;
      filled += count;
      if (filled < BLOCK_BYTES) continue;
      onProgress();
      yield block;
      block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      filled = 0;
    }
  }
  if (content.refusal === undefined && filled > 0) yield block.subarray(0, filled);
}

const CR = 0x0d;
const LF = 0x0a;
const DOT = 0x2e;

type LineState = "line" | "text" | "cr" | "dot" | "dot_cr";

/**
 * Removes dot-stuffing: in a line that starts with a dot, the client added that dot (RFC 5321 §4.5.2); a line with nothing else ends the
 * message, and `after` follows it. Other servers accept a bare CR or LF as the end of a line (SMTP smuggling); here it is a reason to
 * refuse (§2.3.8). `text` overwrites `bytes`, and is never longer.
 */
const createUnstuffer = () => {
  let state: LineState = "line";
  let hasBareLineEnd = false;
  return (bytes: Buffer) => {
    let length = 0;
    let after: Buffer | undefined;
    for (let at = 0; at < bytes.length && !after; at++) {
      const byte = bytes[at] ?? 0;
      if (state === "line" && byte === DOT) state = "dot";
      else if (state === "dot" && byte === CR) state = "dot_cr";
      else if (state === "dot_cr" && byte === LF) after = bytes.subarray(at + 1);
      else {
        const isAfterCr = state === "cr" || state === "dot_cr";
        if (isAfterCr !== (byte === LF)) hasBareLineEnd = true;
        state = byte === CR ? "cr" : isAfterCr && byte === LF ? "line" : "text";
        bytes[length++] = byte;
      }
    }
    return { text: bytes.subarray(0, length), after, hasBareLineEnd };
  };
};
