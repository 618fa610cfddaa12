import { vi } from "vitest";

/** Waits until the check passes. Vitest's own second is less than a busy machine needs for a turn of the event loop. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 100_000 });
