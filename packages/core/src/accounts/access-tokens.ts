/** The claims of an access token with a verified signature, issuer, audience and expiry. */
export type TokenClaims = Readonly<Record<string, unknown>>;

export type TrustedIssuer = {
  readonly issuer: string;
  /** The `aud` that a token must contain: the URL of this service. */
  readonly audience: string;
};

export type AccessTokens = TrustedIssuer & {
  /** Undefined when the token is invalid or expired. Throws when the issuer's keys cannot be fetched. */
  readonly verify: (token: string) => Promise<TokenClaims | undefined>;
};
