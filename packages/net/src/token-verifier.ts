import type { AccessTokens, TrustedIssuer } from "@mailproof/core/accounts/access-tokens";
import { errors, type JWTPayload, jwtVerify } from "jose";
import { createIssuerKeys } from "./issuer-keys.ts";

/** Public keys only: with a shared secret everybody who can check a token could make one. */
const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"];
/** RFC 7519 §4.1.4 lets clocks differ by "a few minutes"; one is enough where they are kept. */
const SKEW_SECONDS = 60;
/** What an access token calls itself (RFC 9068 §2.1, RFC 7519 §5.1): issuers sign logouts, events and proofs, too. */
const TYPE = /^(?:application\/)?(?:at\+)?jwt$/i;

/** Reads JWT access tokens of one issuer. Nothing is fetched before the first token comes. */
export const createTokenVerifier = (
  { issuer, audience }: TrustedIssuer,
  now: () => Date,
): AccessTokens => {
  const keys = createIssuerKeys(issuer, now);
  // Clients that name a host without a path as the resource put a slash after it (RFC 3986 §6.2.3).
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

/** Whoever says nothing of it is believed; nobody has looked at its form before. */
const isAccessToken = ({ typ }: { readonly typ?: unknown }): boolean =>
  typ === undefined || (typeof typ === "string" && TYPE.test(typ));

/** Given out later than now: whoever signed it has another clock than ours, and its end means nothing. */
const isAhead = ({ iat = 0 }: JWTPayload, now: Date): boolean =>
  iat > now.getTime() / 1000 + SKEW_SECONDS;

/** The rest is about the issuer: it did not answer, or not with keys. */
const isTokenError = (error: unknown): boolean =>
  error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid);
