/** One whole reply of a mail server (RFC 5321 §4.2.1): its lines, joined by line feeds and without codes. */
export type Reply = {
  readonly code: number;
  /** The code of RFC 3463, from any place in the text; null when the reply has none. */
  readonly enhanced: string | null;
  readonly text: string;
};

export type Stage = "greeting" | "ehlo" | "starttls" | "mail" | "rcpt";
