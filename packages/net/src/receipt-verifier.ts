import { RECEIPT_TYPE } from "@mailproof/core/receipts/create-receipt";
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";

export type ReceiptFault = "not_a_receipt" | "unknown_key" | "forged";

export type CheckedReceipt =
  | { readonly kind: "signed"; readonly kid: string; readonly claims: JWTPayload }
  | { readonly kind: "refused"; readonly fault: ReceiptFault };

const OPTIONS = {
  algorithms: ["EdDSA"],
  typ: RECEIPT_TYPE,
  requiredClaims: ["jti", "iat", "email_sha256", "class"],
};

/** Returns the claims of a receipt that one of these keys has signed. Throws when `keySet` is no key set. */
export const checkReceipt = async (text: string, keySet: unknown): Promise<CheckedReceipt> => {
  const keys = createLocalJWKSet(keySet as JSONWebKeySet);
  if (!isCanonical(text)) return { kind: "refused", fault: "not_a_receipt" };
  try {
    const { payload: claims, protectedHeader } = await jwtVerify(text, keys, OPTIONS);
    return { kind: "signed", kid: protectedHeader.kid ?? "", claims };
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    return { kind: "refused", fault: FAULTS[error.code] ?? "not_a_receipt" };
  }
};

/** Other errors of the library concern the form of the text. */
const FAULTS: Readonly<Record<string, ReceiptFault>> = {
  [errors.JWKSNoMatchingKey.code]: "unknown_key",
  [errors.JWSSignatureVerificationFailed.code]: "forged",
};

/** A signature's last base64url character has spare bits, which decoders ignore: two texts would be the same receipt. */
const isCanonical = (text: string): boolean => {
  const signature = text.slice(text.lastIndexOf(".") + 1);
  return Buffer.from(signature, "base64url").toString("base64url") === signature;
};
