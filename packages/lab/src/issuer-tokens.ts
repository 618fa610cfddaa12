import { createHash } from "node:crypto";
import type { Algorithm } from "@mailproof/mail/control/profiles";
import { CompactSign, exportJWK, generateKeyPair, importJWK } from "jose";
import { PUBLIC_AND_WORTHLESS_JWK, type SigningKey, toIssuer, toPublicJwk } from "./issuer.ts";

// Creates tokens of the Email Verification Protocol, as an issuer and a browser do.

export const createSigningKey = async (algorithm: Algorithm): Promise<SigningKey> => {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return { algorithm, jwk: await exportJWK(privateKey) };
};

type Fields = Readonly<Record<string, unknown>>;
export type TokenChanges = Partial<
  Record<"issuedHeader" | "issuedClaims" | "boundHeader" | "boundClaims", Fields>
>;

type TokenRequest = {
  readonly issuer: string;
  readonly email: string;
  readonly nonce: string;
  readonly origin: string;
  readonly at: Date;
  readonly issuerKey: SigningKey;
  readonly browserKey: SigningKey;
};

/** Creates the browser's token for the form: the issuer signs the address, and the browser signs the form. */
export const createToken = async (
  { issuer, email, nonce, origin, at, issuerKey, browserKey }: TokenRequest,
  changes: TokenChanges = {},
): Promise<string> => {
  const iat = Math.floor(at.getTime() / 1_000);
  const issued = await sign(
    issuerKey,
    { alg: issuerKey.algorithm, typ: "evt+jwt", kid: issuerKey.jwk.kid, ...changes.issuedHeader },
    {
      iss: issuer,
      iat,
      email,
      email_verified: true,
      cnf: { jwk: toPublicJwk(browserKey) },
      ...changes.issuedClaims,
    },
  );
  const sd_hash = createHash("sha256").update(`${issued}~`).digest("base64url");
  const bound = await sign(
    browserKey,
    { alg: browserKey.algorithm, typ: "kb+jwt", ...changes.boundHeader },
    { aud: origin, nonce, iat, sd_hash, ...changes.boundClaims },
  );
  return `${issued}~${bound}`;
};

const sign = async ({ algorithm, jwk }: SigningKey, header: Fields, claims: Fields) =>
  new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ ...header, alg: algorithm })
    .sign(await importJWK(jwk, algorithm));

export const createLabToken = async (
  zoneName: string,
  about: Pick<TokenRequest, "email" | "nonce" | "origin" | "at">,
): Promise<string> =>
  createToken({
    ...about,
    issuer: `https://${toIssuer(zoneName)}`,
    issuerKey: PUBLIC_AND_WORTHLESS_JWK,
    browserKey: await createSigningKey("Ed25519"),
  });
