import { sign } from "node:crypto";
import * as v from "valibot";
import type { World } from "../ports/world.ts";
import type { Verification } from "../verify/result.ts";
import { buildClaims, encodeJson } from "./receipt-claims.ts";
import { deriveReceiptKey } from "./receipt-keys.ts";

// Anyone can verify a receipt offline: it is a compact JWS (RFC 7515 §7.1) by EdDSA (RFC 8037).

/** The media type application/mailproof-receipt+jwt: no other kind of token passes for a receipt (RFC 8725 §3.11). */
export const RECEIPT_TYPE = "mailproof-receipt+jwt";

const IssuedAt = v.object({ iat: v.number() });

/** The key of the year in the claims signs. Equal claims give equal text, because EdDSA uses no random numbers. */
export const signClaims = (world: Pick<World, "settings">, claims: string): string => {
  const { iat } = v.parse(IssuedAt, JSON.parse(Buffer.from(claims, "base64url").toString()));
  const { privateKey, jwk } = deriveReceiptKey(world, new Date(iat * 1_000).getUTCFullYear());
  const header = { alg: jwk.alg, typ: RECEIPT_TYPE, kid: jwk.kid };
  const signed = `${encodeJson(header)}.${claims}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
};

type StoredRow = { readonly row: number; readonly result: Verification };

/** Signs the receipt of a pending verification, whose worker stored the claims. */
export const signStoredClaims = (world: Pick<World, "settings">, stored: StoredRow): StoredRow => {
  const { receiptClaims, ...result } = stored.result;
  if (receiptClaims === undefined) return stored;
  return { row: stored.row, result: { ...result, receipt: signClaims(world, receiptClaims) } };
};

export const createReceipt = (
  ...asked: Parameters<typeof buildClaims>
): { readonly receipt: string } | undefined => {
  const claims = buildClaims(...asked);
  return claims === undefined ? undefined : { receipt: signClaims(asked[0], claims) };
};
