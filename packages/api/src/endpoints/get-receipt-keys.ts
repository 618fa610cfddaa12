import { listReceiptKeys } from "@mailproof/core/receipts/receipt-keys";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { describe } from "../schema/common.ts";
import * as field from "../schema/fields.ts";

/** A new key is public for a year before it signs, so a copy may be an hour old. */
const CACHE_CONTROL = "public, max-age=3600";

export const getReceiptKeys = endpoint({
  id: "getReceiptKeys",
  route: "GET /.well-known/jwks.json",
  tag: "Service",
  addition: "A receipt is checked with these keys, without a call for each.",
  summary: "List the public keys that receipts are checked with.",
  access: "public",
  enveloped: false,
  needs: ["seal"],
  // Not a tool: libraries use it to verify a signature.
  tool: null,
  // Libraries may add query parameters to bypass caches.
  query: v.object({}),

  output: v.object({
    keys: field.objects(
      "The keys as a JWK set (RFC 7517): one for each year from 2026 to the next.",
      {
        kty: describe(v.literal("OKP"), "Always `OKP` (RFC 8037)."),
        crv: describe(v.literal("Ed25519"), "Always `Ed25519`."),
        x: field.text("The public key, in base64url."),
        kid: field.text("The key's id: the year in which it signs, and a part of its hash."),
        alg: describe(v.literal("EdDSA"), "Always `EdDSA`."),
        use: describe(v.literal("sig"), "Always `sig`."),
      },
    ),
  }),

  async handle(world) {
    const { keys } = listReceiptKeys(world);
    return {
      status: 200,
      headers: { "cache-control": CACHE_CONTROL },
      data: { keys: [...keys] },
    };
  },
});
