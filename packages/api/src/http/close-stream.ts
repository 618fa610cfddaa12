import type { Streamed } from "./endpoint.ts";

/** Closes the source of the stream without reading it to its end, for a response to HEAD. */
export const closeStream = async (stream: Streamed["stream"]): Promise<void> => {
  await stream[Symbol.asyncIterator]().return?.();
};
