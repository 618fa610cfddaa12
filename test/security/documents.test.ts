import { request } from "node:http";
import { expect, test } from "vitest";
import { whenListening } from "../local/listening.ts";

// Goal: a caller without a key makes the server write and compress nothing that was not there.
// Method: a document has a strong tag of its bytes, and test/net/content-encoding.test.ts shows that equal bytes are compressed once.

const ask = (port: number, path: string, headers: Record<string, string>) =>
  new Promise<string | undefined>((resolve, reject) => {
    const headersSent = { "accept-encoding": "br", ...headers };
    request({ port, path, headers: headersSent, setHost: false })
      .on("response", (response) => resolve(response.resume().headers.etag))
      .on("error", reject)
      .end();
  });

test.each(["/", "/docs", "/docs/quick-start", "/openapi.json", "/llms.txt"])(
  "%s is the same document whatever names a request has for the server",
  async (path) => {
    const { port } = await whenListening();
    const tags = new Set<string | undefined>();

    for (let n = 0; n < 40; n++) {
      const host = `h${n}.example:${n}`;
      tags.add(await ask(port, path, { host }));
      const forwarded = { "x-forwarded-host": host, "x-forwarded-proto": "https" };
      tags.add(await ask(port, path, { host: "127.0.0.1", ...forwarded }));
    }

    // Two: a text is sent plain while others are being compressed.
    expect(tags.size).toBeLessThanOrEqual(2);
  },
);
