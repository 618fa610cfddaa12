import { compactVerify, importJWK } from "jose";
import * as v from "valibot";
import type { Algorithm } from "./profiles.ts";

/** A public key (RFC 7517, RFC 8037). A key that comes with its private part proves nothing. */
const PublicKey = v.object({
  kty: v.string(),
  crv: v.string(),
  x: v.string(),
  y: v.optional(v.string()),
  alg: v.optional(v.string()),
  kid: v.optional(v.string()),
  use: v.optional(v.string()),
  key_ops: v.optional(v.array(v.string())),
  d: v.optional(v.never()),
});
export type PublicKey = v.InferOutput<typeof PublicKey>;

export const readPublicKey = (value: unknown): PublicKey | undefined => {
  const parsed = v.safeParse(PublicKey, value);
  return parsed.success ? parsed.output : undefined;
};

const ED25519 = { kty: "OKP", crv: "Ed25519" };
const KEY_FORMS: Readonly<Record<Algorithm, { readonly kty: string; readonly crv: string }>> = {
  Ed25519: ED25519,
  EdDSA: ED25519,
  ES256: { kty: "EC", crv: "P-256" },
};

/** EdDSA and Ed25519 name the same algorithm here (RFC 9864). */
export const isSameAlgorithm = (one: string, other: string): boolean =>
  one === other || [one, other].every((name) => name === "EdDSA" || name === "Ed25519");

export const fitsAlgorithm = (algorithm: Algorithm, key: PublicKey): boolean => {
  const { kty, crv } = KEY_FORMS[algorithm];
  return (
    key.kty === kty &&
    key.crv === crv &&
    (key.alg === undefined || isSameAlgorithm(key.alg, algorithm)) &&
    (key.use === undefined || key.use === "sig") &&
    (key.key_ops === undefined || key.key_ops.includes("verify"))
  );
};

export const isSignedBy = async (
  token: string,
  algorithm: Algorithm,
  { kty, crv, x, y }: PublicKey,
): Promise<boolean> => {
  try {
    const key = await importJWK({ kty, crv, x, ...(y !== undefined && { y }) }, algorithm);
    await compactVerify(token, key, { algorithms: [algorithm] });
    return true;
  } catch {
    return false;
  }
};
