/** What an operator decides, as far as the core has to know it. Each runtime reads it from its environment. */
export type Settings = {
  readonly version: string;
  /** Keyed into every stored hash of an API key: a leaked table alone cannot be searched for keys. */
  readonly keyPepper: string;
  /** Signs the cursors that callers bring back. */
  readonly cursorSecret: string;
  /** Keyed into every stored hash of an address of whom activity is known: without it nobody can look for one. */
  readonly activityKey: string;
  /** Whether accounts see what others brought in, once enough of them did that it is nobody's alone. */
  readonly activityPool: "own" | "shared";
  /** Whose the events of Amazon SES are that name no account. Null: nobody's. */
  readonly sesAccount: string | null;
  /** Encrypts the secrets that we have to know in clear: those that sign what we send (sealed.ts). */
  readonly sealingKey: string;
  /** How many addresses one message stands for. A simulation has few of them in many chunks. */
  readonly chunkRows: { readonly batch: number; readonly file: number };
};

/** A chunk of a file fills a dozen sessions; that of a batch is smaller, so that its first results come soon. */
export const CHUNK_ROWS: Settings["chunkRows"] = { batch: 100, file: 500 };
