export type OidcSettings = {
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client, which has none. */
  readonly clientSecret: string | null;
};

export type Settings = {
  readonly version: string;
  /** Hashes stored API keys, so nobody can search a leaked table for a key. */
  readonly keyPepper: string;
  /** The previous pepper, whose keys are still accepted. Null when the pepper never changed. */
  readonly keyPepperBefore: string | null;
  /** Signs the pagination cursors that clients send. */
  readonly cursorSecret: string;
  /** The previous secret, whose cursors are still accepted. Null when the secret never changed; so are the other two. */
  readonly cursorSecretBefore: string | null;
  /** Hashes the addresses in stored activity, so nobody can search a leaked table for an address. */
  readonly activityKey: string;
  /** The previous key, whose records are still found. */
  readonly activityKeyBefore: string | null;
  /** "shared": an account also sees activity that enough other accounts contributed. "own": an account sees only its own activity. */
  readonly activityPool: "own" | "shared";
  /** The account that receives SES events without a `mailproof_account` tag. Null drops such events. */
  readonly sesAccount: string | null;
  /** The domain of the addresses that receive mail, in A-labels. Null when this service receives no mail. */
  readonly mailDomain: string | null;
  /** The OpenID Connect provider that people sign in with. Null when they sign in by passkey only. */
  readonly oidc: OidcSettings | null;
  /** The address that this service's mails come from. Null when it sends none. */
  readonly mailFrom: string | null;
  /** The URL of this service for its clients; receipts state it as their issuer. Null when it is unknown. */
  readonly publicUrl: string | null;
  /**
   * Encrypts the secrets that the service must read again, such as those that sign webhooks (secret-box.ts). The keys of
   * receipts derive from it (receipts/receipt-keys.ts).
   */
  readonly encryptionKey: string;
  /** The previous key, whose secrets are still decrypted and whose receipts' keys are still published. */
  readonly encryptionKeyBefore: string | null;
  /** The number of addresses in a chunk. A simulation uses small chunks. */
  readonly chunkRows: { readonly batch: number; readonly file: number };
  /**
   * After this time a worker stores a chunk's finished rows and continues the others separately. Infinity on AWS, where the
   * process ends with its message, so a worker waits for all rows.
   */
  readonly slowRowsAfterMs: number;
  /** A request itself makes an export of up to `inRequest` rows, otherwise a worker. `part`: the rows in a part of an export. */
  readonly exportRows: { readonly inRequest: number; readonly part: number };
  /**
   * A balance gets one more shard for each of these credits. Infinity on one machine, where transactions wait for each other
   * and never conflict: there every charge reads all shards.
   */
  readonly creditsPerShard: number;
};

/** Most sessions with healthy mail servers end within 2 s; a session with a tarpit lasts two minutes. */
export const SLOW_ROWS_AFTER_MS = 2_000;

/** A chunk of a file fills a dozen sessions. A chunk of a batch is smaller, so that its first results appear soon. */
export const CHUNK_ROWS: Settings["chunkRows"] = { batch: 100, file: 500 };

/**
 * A request exports 50,000 rows in a few seconds, even on a busy machine. A Lambda makes a part in two seconds, and a part has
 * at least 5 MB, so S3 joins parts without reading them.
 */
export const EXPORT_ROWS: Settings["exportRows"] = { inRequest: 50_000, part: 50_000 };

/** With fewer credits in a shard, nearly every charge would need the other shards, too. */
export const CREDITS_PER_SHARD = 100;
