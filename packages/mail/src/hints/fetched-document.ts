/** What an HTTPS GET came to. It follows no redirect and reaches no private address. */
export type FetchedDocument =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly contentType: string;
      /** Cut where the client stops reading. */
      readonly body: string;
      readonly isComplete: boolean;
      readonly cacheControl?: string | undefined;
    }
  | { readonly kind: "failed"; readonly why: string };

export type FetchDocument = (url: string) => Promise<FetchedDocument>;

/** The one failed fetch that says something about a domain: DNS answered that the host does not exist. */
export const NAME_NOT_FOUND = "name_not_found";

/** "connect_timeout" as people read it. */
export const toWords = (why: string): string => why.replaceAll("_", " ");
