export type ReceivedMessage = {
  readonly raw: Uint8Array;
  readonly mailFrom: string;
  readonly helo: string;
  readonly ip: string;
  /** Absent when the client did not encrypt. "unknown" when Amazon SES received the mail, which does not report it. */
  readonly tls?: { readonly version: string; readonly cipher: string } | "unknown" | undefined;
  readonly receivedAt: Date;
};
