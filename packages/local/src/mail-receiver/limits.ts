/** The limits of the receiver of mail. See docs/operating.md. */
export const MAIL_LIMITS = {
  /** Gmail and others send at most 25 MB; a test mail is a newsletter or a receipt. */
  messageBytesMax: 10_000_000,
  /** How much of a message is held in memory. A larger one waits in the blobs until it is whole, so a slow client holds little. */
  arrivingBytesMax: 1_048_576,
  /** What all messages hold in memory, and one network at most half of it; further ones are deferred. */
  heldBytesMax: 67_108_864,
  /** In each `idleMs` of a message: a thousand bytes a second. A modem sends five times as many. */
  leastBytes: 60_000,
  /** Reads and TLS records of all, and of one network half: with a record for each line, that is 600 KB of a message. */
  piecesPerSecondMax: 16_000,
  /** RFC 5321 §4.5.3.1.4 has 512; parameters may make it longer. */
  commandBytesMax: 2_000,
  connectionsMax: 100,
  connectionsPerNetworkMax: 10,
  /** New connections from one network in a minute. */
  connectionsPerNetworkMinuteMax: 60,
  /** Commands that are refused, or that bring a session no further, before it is closed. */
  uselessCommandsMax: 20,
  /** For one command, or for the next bytes of a message. */
  idleMs: 60_000,
  sessionMs: 600_000,
  /** How long a client has to read the last reply. */
  hangUpMs: 1_000,
  /** How long a stop waits for messages that are being stored. */
  stopMs: 5_000,
  /** What is kept for the operator in a day, and of one network at most half of it. */
  postmasterBytesMax: 20_000_000,
} as const;

export type MailLimits = { readonly [name in keyof typeof MAIL_LIMITS]: number };
