/** What an access token says. By whom it says it, for whom and until when has been looked at. */
export type TokenClaims = Readonly<Record<string, unknown>>;

/** The OAuth issuer that the operator trusts. */
export type TrustedIssuer = {
  readonly issuer: string;
  /** What a token must be made for: the address of this service. */
  readonly audience: string;
};

/** The same, with all that we have to do with it. */
export type AccessTokens = TrustedIssuer & {
  /** Undefined: no token in force. Throws when that cannot be known, because the issuer's keys cannot be had. */
  readonly verify: (token: string) => Promise<TokenClaims | undefined>;
};
