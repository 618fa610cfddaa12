import type { Dns } from "@mailproof/mail/dns/dns";
import {
  type FetchDocument,
  type FetchedDocument,
  getDocumentState,
} from "@mailproof/mail/hints/fetched-document";
import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";

/** Reads the delegations of token issuers in DNS, and their documents. Each process builds it once. */
export type Issuers = {
  readonly dns: Dns;
  /** Returns a document that is at most `ageMsMax` old, and fresh by its own cache-control. */
  readonly fetchDocument: (url: string, ageMsMax?: number) => Promise<FetchedDocument>;
};

export type WithIssuers = { readonly issuers: Issuers };

/** A cached document lives as long as its cache-control states, within these bounds. A missing document is cached, too. */
const LIFE_SECONDS = { least: 60, most: 24 * 60 * 60 };
/** Room for 32 documents of the largest size, or thousands of the usual size. */
const CACHED_BYTES_MAX = 4 * 1024 * 1024;
/** The memory of a cached document beside its body. */
const ENTRY_BYTES = 500;

type Entry = {
  readonly url: string;
  readonly atMs: number;
  readonly untilMs: number;
  readonly document: FetchedDocument;
};

type Ports = { readonly dns: Dns; readonly fetchDocument: FetchDocument; readonly now: () => Date };

export const createIssuers = ({ dns, fetchDocument, now }: Ports): Issuers => {
  const cache = createBoundedMap<Entry>({
    weightMax: CACHED_BYTES_MAX,
    // An issuer chooses the URL of its keys, so a long URL must count, too.
    weigh: ({ url, document }) =>
      ENTRY_BYTES + url.length + (document.kind === "answer" ? document.body.length : 0),
  });
  const fetching = new Map<string, Promise<FetchedDocument>>();

  const fetchAndKeep = async (url: string): Promise<FetchedDocument> => {
    const document = await fetchDocument(url);
    const atMs = now().getTime();
    cache.set(url, { url, atMs, untilMs: atMs + getLifeSeconds(document) * 1_000, document });
    return document;
  };

  return {
    dns,
    fetchDocument: async (url, ageMsMax = Number.POSITIVE_INFINITY) => {
      const cached = cache.get(url);
      const nowMs = now().getTime();
      if (cached && nowMs < cached.untilMs && nowMs - cached.atMs <= ageMsMax)
        return cached.document;
      const running = fetching.get(url) ?? fetchAndKeep(url).finally(() => fetching.delete(url));
      fetching.set(url, running);
      return running;
    },
  };
};

/** RFC 9111 §5.2.2. A document with no-store is cached for the least time all the same. */
const getLifeSeconds = (document: FetchedDocument): number => {
  const { least, most } = LIFE_SECONDS;
  if (document.kind !== "answer" || getDocumentState(document) !== "whole") return least;
  const rules = document.cacheControl ?? "";
  const age = /(?:^|[\s,])max-age="?(\d{1,9})\b/i.exec(rules)?.[1];
  if (age === undefined || /(?:^|[\s,])no-(?:store|cache)\b/i.test(rules)) return least;
  return Math.min(most, Math.max(least, Number(age)));
};
