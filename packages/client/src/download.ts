import { OPERATIONS } from "./operations.ts";
import type { CallOptions } from "./options.ts";
import type { ClientTransport } from "./transport.ts";
import type { DownloadJobInput } from "./types.ts";

/** An export as a stream. */
export interface Download {
  /** The file name that the service suggests: the name of the list, with the filter. */
  readonly fileName: string | undefined;
  /** The bytes of the file. It can be read once, and it ends with an error when the connection breaks. */
  readonly stream: ReadableStream<Uint8Array>;
  /** Reads the whole stream as text. */
  text(): Promise<string>;
}

/** The results as a file: the list's own columns and the result columns. */
export const createDownloader =
  ({ call }: ClientTransport) =>
  (input: DownloadJobInput, options?: CallOptions): Promise<Download> =>
    call(
      { ...OPERATIONS.downloadJob, fixed: { format: "csv" } },
      input,
      options,
      async (response) => {
        const body = response.body ?? new Blob([]).stream();
        // The call has returned, but the caller's signal also aborts the stream.
        const stream = body.pipeThrough(new TransformStream(), options as object);
        return {
          fileName: parseFileName(response.headers.get("content-disposition") ?? ""),
          stream,
          text: () => new Response(stream).text(),
        };
      },
    );

/** RFC 6266: the one in Unicode, or else the plain one. */
const parseFileName = (header: string): string | undefined => {
  const coded = /filename\*=UTF-8''([^;]+)/i.exec(header)?.[1];
  if (coded !== undefined) return decodeURIComponent(coded);
  return /filename="([^"]+)"/i.exec(header)?.[1];
};
