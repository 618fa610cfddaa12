import { buildClaims } from "./receipt-claims.ts";
import { signClaims } from "./sign-receipt.ts";

export const createReceipt = (
  ...asked: Parameters<typeof buildClaims>
): { readonly receipt: string } | undefined => {
  const claims = buildClaims(...asked);
  return claims === undefined ? undefined : { receipt: signClaims(asked[0], claims) };
};
