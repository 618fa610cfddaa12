/** The limits of the receiver of mail. See docs/operating.md. */
export const MAIL_LIMITS = {
  /** Gmail and others send at most 25 MB; a test mail is a newsletter or a receipt. */
  messageBytesMax: 10_000_000,
  /** What all messages under way may have together; further ones are deferred. */
  bufferedBytesMax: 100_000_000,
  /** RFC 5321 §4.5.3.1.4 has 512; parameters may make it longer. */
  commandBytesMax: 2_000,
  connectionsMax: 100,
  connectionsPerIpMax: 10,
  /** New connections from one address in a minute. */
  connectionsPerIpMinuteMax: 60,
  /** Commands that are refused, or that bring a session no further, before it is closed. */
  uselessCommandsMax: 20,
  /** For one command, or for the next bytes of a message. */
  idleMs: 60_000,
  sessionMs: 600_000,
  /** How long a client has to read the last reply. */
  hangUpMs: 1_000,
  /** How long a stop waits for messages that are being stored. */
  stopMs: 5_000,
} as const;

export type MailLimits = { readonly [name in keyof typeof MAIL_LIMITS]: number };
