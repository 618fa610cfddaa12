import { createHash } from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import * as v from "valibot";
import { type Address, isAddress, parseAddress } from "../address.ts";
import { readIssuerHost } from "./issuer.ts";
import { fitsAlgorithm, type PublicKey, readPublicKey } from "./keys.ts";
import { type Algorithm, PROFILES, type Profile } from "./profiles.ts";

// Reads a token of the Email Verification Protocol, `<EVT>~<KB-JWT>`: an issuer signed that the holder of a browser's key controls an
// address, and the browser's key signed the page and the form.

export const TOKEN_LENGTH_MAX = 16_384;

export type Expected = {
  readonly token: string;
  readonly nonce: string;
  readonly origin: string;
  readonly address: Address | null;
};

/** A token that has passed all checks without a signature. Nothing in it is proven yet. */
export type Presentation = {
  readonly kind: "presentation";
  readonly profile: string;
  readonly issuer: string;
  readonly domain: string;
  readonly issued: SignedPart & { readonly keyId: string | null };
  readonly bound: SignedPart & { readonly key: PublicKey };
};
type SignedPart = { readonly text: string; readonly algorithm: Algorithm };

export type TokenFault =
  | "malformed"
  | "type_wrong"
  | "algorithm_unsupported"
  | "email_unverified"
  | "browser_key_invalid"
  | "expired"
  | "not_yet_valid"
  | "hash_mismatch"
  | "nonce_mismatch"
  | "origin_mismatch"
  | "address_mismatch";

export const readToken = (expected: Expected, now: Date): Presentation | TokenFault => {
  const split = splitToken(expected.token);
  if (!split) return "malformed";
  const [first, ...others] = PROFILES;
  let result = checkToken(split, first, expected, now);
  for (const profile of others)
    if (typeof result === "string") result = checkToken(split, profile, expected, now);
  return result;
};

/** A token may not contain disclosures between its two parts. */
const TOKEN = /^([\w-]+\.[\w-]+\.[\w-]+)~([\w-]+\.[\w-]+\.[\w-]+)$/;

const splitToken = (token: string) => {
  if (token.length > TOKEN_LENGTH_MAX) return undefined;
  const [, issued, bound] = TOKEN.exec(token.trim()) ?? [];
  if (issued === undefined || bound === undefined) return undefined;
  try {
    return { issued: decodePart(issued), bound: decodePart(bound) };
  } catch {
    return undefined;
  }
};
type SplitToken = NonNullable<ReturnType<typeof splitToken>>;

const decodePart = (text: string) => ({
  text,
  header: decodeProtectedHeader(text),
  claims: decodeJwt(text),
});

const Seconds = v.pipe(v.number(), v.finite());
const Header = v.object({
  // This code understands no extension, so a token may not require one (RFC 7515 §4.1.11, RFC 7797 §7).
  crit: v.optional(v.never()),
  b64: v.optional(v.literal(true)),
  kid: v.optional(v.string()),
});
const IssuedClaims = v.object({
  iss: v.string(),
  iat: Seconds,
  exp: v.nullish(Seconds),
  email: v.string(),
  email_verified: v.optional(v.unknown()),
  cnf: v.object({ jwk: v.optional(v.unknown()) }),
});
const BoundClaims = v.object({
  iat: Seconds,
  sd_hash: v.string(),
  nonce: v.string(),
  aud: v.string(),
});

const checkToken = (
  { issued, bound }: SplitToken,
  profile: Profile,
  { nonce, origin, address }: Expected,
  now: Date,
): Presentation | TokenFault => {
  const { issuedType, boundType, issuerAlgorithms, browserAlgorithms, issuerForms } = profile;
  if (issued.header.typ !== issuedType || bound.header.typ !== boundType) return "type_wrong";
  const ofIssuer = issuerAlgorithms.find((one) => one === issued.header.alg);
  const ofBrowser = browserAlgorithms.find((one) => one === bound.header.alg);
  if (!ofIssuer || !ofBrowser) return "algorithm_unsupported";

  const header = v.safeParse(Header, issued.header);
  const claims = v.safeParse(IssuedClaims, issued.claims);
  const binding = v.safeParse(BoundClaims, bound.claims);
  if (!header.success || !claims.success || !binding.success) return "malformed";
  if (!v.is(Header, bound.header)) return "malformed";
  const keyId = header.output.kid || null;
  const issuer = readIssuerHost(claims.output.iss, issuerForms);
  if (issuer === undefined || (profile.isKeyIdRequired && keyId === null)) return "malformed";
  if (claims.output.email_verified !== true) return "email_unverified";
  const key = readPublicKey(claims.output.cnf.jwk);
  if (!key || !fitsAlgorithm(ofBrowser, key)) return "browser_key_invalid";

  const outdated =
    findTimeFault(profile, claims.output, now) ?? findTimeFault(profile, binding.output, now);
  if (outdated) return outdated;
  if (binding.output.sd_hash !== hash(`${issued.text}~`)) return "hash_mismatch";
  // An empty nonce would bind the token to no form.
  if (nonce === "" || binding.output.nonce !== nonce) return "nonce_mismatch";
  if (binding.output.aud !== origin) return "origin_mismatch";
  if (!address || !isSameAddress(claims.output.email, address)) return "address_mismatch";
  return {
    kind: "presentation",
    profile: profile.name,
    issuer,
    domain: address.domain,
    issued: { text: issued.text, algorithm: ofIssuer, keyId },
    bound: { text: bound.text, algorithm: ofBrowser, key },
  };
};

type Times = { readonly iat: number; readonly exp?: number | null | undefined };

const findTimeFault = (
  { ageSecondsMax, skewSeconds }: Profile,
  { iat, exp }: Times,
  now: Date,
): TokenFault | undefined => {
  const seconds = now.getTime() / 1_000;
  if (iat > seconds + skewSeconds) return "not_yet_valid";
  const isOld = seconds - iat >= ageSecondsMax + skewSeconds;
  return isOld || (typeof exp === "number" && seconds - skewSeconds > exp) ? "expired" : undefined;
};

const hash = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** Compares the local part without case, and the domain as A-labels. A literal has no domain that could name an issuer. */
const isSameAddress = (text: string, { canonical, literal }: Address): boolean => {
  const parsed = parseAddress(text);
  return isAddress(parsed) && literal === null && parsed.canonical === canonical;
};
