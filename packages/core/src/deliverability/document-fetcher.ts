import type { FetchDocument } from "@mailproof/mail/hints/fetched-document";
import type { Https } from "../ports/https.ts";

/** Gets documents that domains name in their DNS, through the guard: over HTTPS, and along no redirect (RFC 8461 §3.3). */
export const createDocumentFetcher =
  (https: Pick<Https, "call">): FetchDocument =>
  async (url) => {
    const outcome = await https.call({ method: "GET", url, headers: {} });
    if (outcome.kind === "failed") return outcome;
    const { status, contentType, cacheControl, body, isComplete } = outcome;
    return { kind: "answer", status, contentType, cacheControl, body, isComplete };
  };
