/** What an operator decides, as far as the core has to know it. Each runtime reads it from its environment. */
export type Settings = {
  readonly version: string;
  /** Keyed into every stored hash of an API key: a leaked table alone cannot be searched for keys. */
  readonly keyPepper: string;
  /** Signs the cursors that callers bring back. */
  readonly cursorSecret: string;
};
