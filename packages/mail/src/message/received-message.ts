/** A mail as an SMTP receiver took it from a client. */
export type ReceivedMessage = {
  /** After dot-unstuffing, with CRLF at the ends of lines. */
  readonly raw: Uint8Array;
  /** The address of MAIL FROM, "" for the null reverse-path. */
  readonly mailFrom: string;
  readonly helo: string;
  /** The client's address. */
  readonly ip: string;
  /** Absent: the client did not encrypt. unknown: Amazon SES received the mail, and does not tell. */
  readonly tls?: { readonly version: string; readonly cipher: string } | "unknown" | undefined;
  readonly receivedAt: Date;
};
