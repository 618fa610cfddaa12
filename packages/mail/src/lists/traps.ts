/**
 * A trap that is public is not a trap for long, so this list is tiny on purpose: mailboxes that their owners
 * publish to collect unwanted mail and act on it. A sender that writes to one from a bought or scraped list is
 * reported. An operator adds what his own history has shown.
 */
export const trapAddresses: readonly string[] = [
  "spam@uce.gov",
  "uce@ftc.gov",
  "reportphishing@apwg.org",
  "phishing-report@us-cert.gov",
  "phishing@irs.gov",
  "report@phishing.gov.uk",
];

/** A mailbox that says so itself, at any domain: spamtrap@, spam-trap@, spamtrap2@. */
export const TRAP_LOCAL = /^spam[._-]?traps?\d*(?:@|\+)/;
