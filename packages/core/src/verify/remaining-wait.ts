import type { World } from "../ports/world.ts";

/** The time that the caller needs to receive a result before its wait ends. */
const RESPONSE_MS = 250;

/** For how much longer a mail server's queue is worth the wait. */
export const getRemainingWaitMs = (
  { now }: Pick<World, "now">,
  startedAtMs: number,
  waitMs: number,
): number => Math.max(0, waitMs - RESPONSE_MS - (now().getTime() - startedAtMs));
