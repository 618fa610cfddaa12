/** A mail as the relay gets it. The addresses are checked, and no text contains a line break that could end a header. */
export type OutgoingMail = {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string;
  readonly date: Date;
  /** Further header fields, by name. */
  readonly fields: Readonly<Record<string, string>>;
};

/**
 * refused: the relay will never take this mail. failed: it may take it later, or it did not answer. `reply` is the relay's own
 * text, which may contain the recipient's address.
 */
export type MailOutcome = {
  readonly kind: "sent" | "refused" | "failed";
  readonly reply: string;
};

/** The port to the operator's mail relay. Never throws because of the network. */
export type Mailer = { readonly send: (mail: OutgoingMail) => Promise<MailOutcome> };
