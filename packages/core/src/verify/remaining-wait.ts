import type { World } from "../ports/world.ts";

/** The caller needs this time to receive a result before its wait ends. */
const RESPONSE_MS = 250;

export const getRemainingWaitMs = (
  { now }: Pick<World, "now">,
  startedAtMs: number,
  waitMs: number,
): number => Math.max(0, waitMs - RESPONSE_MS - (now().getTime() - startedAtMs));
