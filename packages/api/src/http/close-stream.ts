import type { Streamed } from "./endpoint.ts";

/** For an answer to HEAD: what the stream reads from is closed without being read to its end. */
export const closeStream = async (stream: Streamed["stream"]): Promise<void> => {
  await stream[Symbol.asyncIterator]().return?.();
};
