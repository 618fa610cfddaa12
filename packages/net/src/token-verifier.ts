import type { AccessTokens, TrustedIssuer } from "@mailproof/core/accounts/access-tokens";
import { errors, type JWTPayload, jwtVerify } from "jose";
import { createIssuerKeys } from "./issuer-keys.ts";

/** The algorithms have public keys only: with a shared secret every service that checks tokens could also sign one. */
const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"];
/** RFC 7519 §4.1.4 allows "a few minutes" between clocks; one minute is enough for synchronized clocks. */
const SKEW_SECONDS = 60;
/** The `typ` of an access token (RFC 9068 §2.1, RFC 7519 §5.1): issuers also sign logouts, events and proofs. */
const TYPE = /^(?:application\/)?(?:at\+)?jwt$/i;

/** Verifies JWT access tokens of one issuer. Fetches no keys before the first token arrives. */
export const createTokenVerifier = (
  { issuer, audience }: TrustedIssuer,
  now: () => Date,
): AccessTokens => {
  const keys = createIssuerKeys(issuer, now);
  // Clients that name a host without a path as the resource add a slash to it (RFC 3986 §6.2.3).
  const bare = audience.replace(/\/$/, "");
  const verify: AccessTokens["verify"] = async (token) => {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        issuer,
        audience: [bare, `${bare}/`],
        algorithms: ALGORITHMS,
        requiredClaims: ["exp"],
        clockTolerance: SKEW_SECONDS,
        currentDate: now(),
      });
      const isOne = isAccessToken(protectedHeader) && !isAhead(payload, now());
      return isOne ? payload : undefined;
    } catch (error) {
      if (isTokenError(error)) return undefined;
      throw error;
    }
  };
  return { issuer, audience, verify };
};

/** Accepts a token without `typ`. The library has not checked the type of the field. */
const isAccessToken = ({ typ }: { readonly typ?: unknown }): boolean =>
  typ === undefined || (typeof typ === "string" && TYPE.test(typ));

/** A token issued in the future shows that the issuer's clock differs from ours, so its expiry means nothing. */
const isAhead = ({ iat = 0 }: JWTPayload, now: Date): boolean =>
  iat > now.getTime() / 1000 + SKEW_SECONDS;

/** Other errors concern the issuer: it did not answer, or its answer held no keys. */
const isTokenError = (error: unknown): boolean =>
  error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid);
