import type { Address } from "@mailproof/mail/address";

// What an account's own mail, and the service's own searches, have shown before a verification. It never
// contains what another account reported.

export type DomainHistory = {
  /** How the domain names its mailboxes, such as "first.last"; null when no search has shown it. */
  readonly pattern: string | null;
  /** Addresses of the account at this domain, by what became of its mail. */
  readonly mail: { readonly delivered: number; readonly bounced: number };
};

export const NO_DOMAIN_HISTORY: DomainHistory = {
  pattern: null,
  mail: { delivered: 0, bounced: 0 },
};

/** Never rejects: what cannot be read counts as not known. */
export type AccountHistory = {
  /** When mail of the account to this address last bounced hard, within the last weeks; null: it did not. */
  readonly findBounce: (address: Address) => Promise<string | null>;
  readonly findDomain: (domain: string) => Promise<DomainHistory>;
};
