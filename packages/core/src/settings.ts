/** What an operator decides, as far as the core has to know it. Each runtime reads it from its environment. */
export type Settings = {
  readonly version: string;
  /** Keyed into every stored hash of an API key: a leaked table alone cannot be searched for keys. */
  readonly keyPepper: string;
  /** Signs the cursors that callers bring back. */
  readonly cursorSecret: string;
  /** How many addresses one message stands for. A simulation has few of them in many chunks. */
  readonly chunkRows: { readonly batch: number; readonly file: number };
};

/** A chunk of a file fills a dozen sessions; that of a batch is smaller, so that its first results come soon. */
export const CHUNK_ROWS: Settings["chunkRows"] = { batch: 100, file: 500 };
