/** The outcome of an HTTPS GET, which follows no redirect and reaches no private address. */
export type FetchedDocument =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly contentType: string;
      readonly body: string;
      readonly isComplete: boolean;
      readonly cacheControl?: string | undefined;
    }
  | { readonly kind: "failed"; readonly why: string };

export type FetchDocument = (url: string) => Promise<FetchedDocument>;

/** The only failed fetch that proves a fact about a domain: DNS answered that the host does not exist. */
export const NAME_NOT_FOUND = "name_not_found";

export const toWords = (why: string): string => why.replaceAll("_", " ");

/** The state of a document for its clients. `missing`: its host answers without the document, as by a redirect, or does not exist. */
export type DocumentState = "whole" | "missing" | "not_public" | "unknown";

/** Faults that last until the domain's set-up changes. Any other may be gone at the next attempt. */
const LASTING: ReadonlySet<string> = new Set([NAME_NOT_FOUND, "bad_url", "port_not_allowed"]);
const BUSY: ReadonlySet<number> = new Set([408, 425, 429]);

export const getDocumentState = (fetched: FetchedDocument): DocumentState => {
  if (fetched.kind === "failed") {
    if (fetched.why === "private_address") return "not_public";
    return LASTING.has(fetched.why) ? "missing" : "unknown";
  }
  const { status, isComplete } = fetched;
  if (status >= 500 || BUSY.has(status)) return "unknown";
  return status === 200 && isComplete ? "whole" : "missing";
};
