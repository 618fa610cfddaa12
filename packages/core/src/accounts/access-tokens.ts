/** The claims of an access token whose signature, issuer, audience and expiry were verified. */
export type TokenClaims = Readonly<Record<string, unknown>>;

/** The OAuth issuer whose access tokens are accepted. */
export type TrustedIssuer = {
  readonly issuer: string;
  /** The `aud` that a token must have: the address of this service. */
  readonly audience: string;
};

/** The issuer, with the verifier of its tokens. */
export type AccessTokens = TrustedIssuer & {
  /** Undefined: the token is invalid or expired. Throws if the issuer's keys cannot be fetched. */
  readonly verify: (token: string) => Promise<TokenClaims | undefined>;
};
