import type { Clock } from "./clock.ts";
import { downloadOver } from "./download.ts";
import { jobsOver } from "./jobs.ts";
import { OPERATIONS } from "./operations.ts";
import type { ClientOptions } from "./options.ts";
import { type Transport, transportTo } from "./transport.ts";
import type { Operations } from "./types.ts";
import { uploadOver, verifyFileOver } from "./verify-file.ts";

/** Every operation of the service, and what takes several of them. */
export type Client = Operations &
  ReturnType<typeof jobsOver> & {
    readonly download: ReturnType<typeof downloadOver>;
    readonly upload: ReturnType<typeof uploadOver>;
    readonly verifyFile: ReturnType<typeof verifyFileOver>;
  };

/** A client of one service under one key. It holds nothing else, so there may be many. */
export const createClient = (options: ClientOptions, clock?: Clock): Client => {
  const transport = transportTo(options, clock);
  return {
    ...operationsOver(transport),
    ...jobsOver(transport),
    download: downloadOver(transport),
    upload: uploadOver(transport),
    verifyFile: verifyFileOver(transport),
  };
};

const operationsOver = ({ call }: Transport): Operations =>
  Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, operation]) => [
      name,
      operation.bare
        ? (options?: object) => call(operation, undefined, options)
        : (input?: object, options?: object) => call(operation, input, options),
    ]),
  ) as unknown as Operations;
