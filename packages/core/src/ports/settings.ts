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
  /** Encrypts the secrets that we have to know in clear: those that sign what we send (secret-box.ts). */
  readonly encryptionKey: string;
  /** How many addresses one message stands for. A simulation has few of them in many chunks. */
  readonly chunkRows: { readonly batch: number; readonly file: number };
  /**
   * After this the rows of a chunk that have a result are stored, and the others go on alone. Absent where a process
   * ends with its message, as on AWS: there a pass waits for all of its rows.
   */
  readonly slowRowsAfterMs?: number;
};

/** A session with a mail server that is well takes a few seconds; one at a tarpit two minutes. */
export const SLOW_ROWS_AFTER_MS = 20_000;

/** A chunk of a file fills a dozen sessions; that of a batch is smaller, so that its first results come soon. */
export const CHUNK_ROWS: Settings["chunkRows"] = { batch: 100, file: 500 };
