import type { FetchDocument } from "@mailproof/mail/hints/fetched-document";
import type { Https } from "../ports/https.ts";

/** Fetches documents that a domain's DNS refers to, through the guard: over HTTPS and without redirects (RFC 8461 §3.3). */
export const createDocumentFetcher =
  (https: Pick<Https, "call">): FetchDocument =>
  async (url) => {
    const outcome = await https.call({ method: "GET", url, headers: {} });
    if (outcome.kind === "failed") return outcome;
    const { status, contentType, cacheControl, body, isComplete } = outcome;
    return { kind: "answer", status, contentType, cacheControl, body, isComplete };
  };
