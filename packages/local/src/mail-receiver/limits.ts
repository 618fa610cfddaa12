/** The limits of the receiver of mail. See docs/operating.md. */
export const MAIL_LIMITS = {
  /** Gmail and others send at most 25 MB; a test mail is a newsletter or a receipt. */
  messageBytesMax: 10_000_000,
  /** The bytes of a message to hold in memory. A larger message waits in the blobs until it is complete, so a slow client holds little. */
  arrivingBytesMax: 1_048_576,
  /** The memory for all messages, of which one network gets at most half; further messages are deferred. */
  heldBytesMax: 67_108_864,
  /** The least bytes in each `idleMs` of a message: a thousand a second. A modem sends five times as many. */
  leastBytes: 60_000,
  /** Reads and TLS records of all clients, and half for one network: with a record for each line, that is 600 KB of a message. */
  piecesPerSecondMax: 16_000,
  /** RFC 5321 §4.5.3.1.4 allows 512 bytes per command line; parameters may extend the line. */
  commandBytesMax: 2_000,
  connectionsMax: 100,
  connectionsPerNetworkMax: 10,
  connectionsPerNetworkMinuteMax: 60,
  /** The number of refused or useless commands after which the server closes a session. */
  uselessCommandsMax: 20,
  idleMs: 60_000,
  sessionMs: 600_000,
  hangUpMs: 1_000,
  stopMs: 5_000,
  /** The bytes stored for the operator in a day, at most half of them from one network. */
  postmasterBytesMax: 20_000_000,
} as const;

export type MailLimits = { readonly [name in keyof typeof MAIL_LIMITS]: number };
