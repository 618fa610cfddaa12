import { OPERATIONS } from "./operations.ts";
import type { CallOptions } from "./options.ts";
import type { ClientTransport } from "./transport.ts";
import type { DownloadJobInput } from "./types.ts";

export interface Download {
  /** The file name that the service suggests: the name of the list, with the filter. */
  readonly fileName: string | undefined;
  /** The bytes of the file. The stream can be read once, and it ends with an error when the connection breaks. */
  readonly stream: ReadableStream<Uint8Array>;
  /** Reads the rest of the file as text. */
  text(): Promise<string>;
}

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

/** RFC 6266: prefers the Unicode name to the plain name. */
const parseFileName = (header: string): string | undefined => {
  const coded = /filename\*=UTF-8''([^;]+)/i.exec(header)?.[1];
  if (coded !== undefined) return decodeURIComponent(coded);
  return /filename="([^"]+)"/i.exec(header)?.[1];
};
