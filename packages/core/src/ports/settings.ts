/** The operator's settings that the core needs. Each runtime reads them from its environment. */
export type Settings = {
  readonly version: string;
  /** The key for hashing stored API keys: a leaked table cannot be searched for keys. */
  readonly keyPepper: string;
  /** The one before it: keys that were made with it are accepted. Null: there is none. */
  readonly keyPepperBefore: string | null;
  /** Signs the pagination cursors that clients send. */
  readonly cursorSecret: string;
  /** The key for hashing addresses in stored activity: a leaked table cannot be searched for an address. */
  readonly activityKey: string;
  /** "shared": an account also sees activity that enough other accounts contributed. "own": only its own. */
  readonly activityPool: "own" | "shared";
  /** The account that receives SES events without a `mailproof_account` tag. Null: such events are dropped. */
  readonly sesAccount: string | null;
  /** The domain of addresses that receive mail, in A-labels. Null: this service receives none. */
  readonly mailDomain: string | null;
  /** The URL of this service for its clients, which receipts name as their issuer. Null: it is not known. */
  readonly publicUrl: string | null;
  /**
   * Encrypts the secrets that must be readable again: those that sign webhooks (secret-box.ts). The keys of receipts are
   * made from it, too (receipts/receipt-keys.ts).
   */
  readonly encryptionKey: string;
  /** How many addresses a chunk has. A simulation uses small chunks. */
  readonly chunkRows: { readonly batch: number; readonly file: number };
  /**
   * After this time a chunk's finished rows are stored, and the others continue separately. Infinity where a process ends with
   * its message, as on AWS: there a pass waits for all of its rows.
   */
  readonly slowRowsAfterMs: number;
  /** From how many rows on a worker makes an export, and how many a part of it has. */
  readonly exportRows: { readonly inRequest: number; readonly part: number };
  /**
   * How many credits of a balance need one more shard. Infinity where transactions wait for each other and never
   * conflict, as on one machine: every charge reads all shards.
   */
  readonly creditsPerShard: number;
};

/** Most sessions with healthy mail servers end within it; one at a tarpit takes two minutes. */
export const SLOW_ROWS_AFTER_MS = 2_000;

/**
 * A chunk of a file fills a dozen sessions. A chunk of a batch is smaller, so that its first results are ready soon.
 */
export const CHUNK_ROWS: Settings["chunkRows"] = { batch: 100, file: 500 };

/**
 * A request makes an export of this many rows in a few seconds, even on a busy machine. A part
 * takes a Lambda two seconds and has 5 MB or more, so S3 joins parts without reading them.
 */
export const EXPORT_ROWS: Settings["exportRows"] = { inRequest: 50_000, part: 50_000 };

/** A shard with less would need the others for nearly every charge. */
export const CREDITS_PER_SHARD = 100;
