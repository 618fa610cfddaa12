/** One whole reply of a mail server (RFC 5321 §4.2.1), its lines joined by line feeds, codes taken out. */
export type Reply = {
  readonly code: number;
  /** RFC 3463, wherever in the text it stood; null when there is none. */
  readonly enhanced: string | null;
  readonly text: string;
};

/** Where in the dialogue a reply was given. */
export type Stage = "greeting" | "ehlo" | "starttls" | "mail" | "rcpt";
