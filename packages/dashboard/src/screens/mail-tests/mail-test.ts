import type { GetMailTestData, MailTest } from "@mailproof/client";

export type MessageReport = NonNullable<GetMailTestData["report"]>;
export type MailTestStatus = MailTest["status"];

export const POLL_MS = 2_000;

/** Tells whether its state may still change: a mail or a report may come within the hour. */
export const isOpen = ({ status }: Pick<MailTest, "status">): boolean =>
  status === "waiting" || status === "assessing";

export const STATUS_WORDS: Readonly<Record<MailTestStatus, string>> = {
  waiting: "waiting for a mail",
  assessing: "being assessed",
  received: "report ready",
  expired: "no mail arrived",
  failed: "failed on our side",
};

/** An unknown result is never red. */
export const STATUS_TONES: Readonly<Record<MailTestStatus, string>> = {
  waiting: "grey",
  assessing: "grey",
  received: "good",
  expired: "warn",
  failed: "warn",
};

export const PART_TITLES: Readonly<Record<string, string>> = {
  spf: "SPF",
  dkim: "DKIM",
  dmarc: "DMARC",
  server: "Sending server",
  reputation: "Blocklists",
  header: "Header",
  content: "Content",
};

export const CAP_REASONS: Readonly<Record<string, string>> = {
  no_author: "the mail has no single author domain",
  unauthenticated: "neither SPF nor DKIM says who sent it",
  listed_gravely: "it is on a critical blocklist",
  dmarc_fail: "DMARC fails",
  no_reverse_dns: "the sending server has no name that resolves back to it",
  no_dmarc: "there is no DMARC record",
};
