import { type Algorithm, DELEGATION_LABEL } from "@mailproof/mail/control/profiles";
import type { FetchDocument } from "@mailproof/mail/hints/fetched-document";
import type { JWK } from "jose";
import type { Zone } from "./zone.ts";

export type SigningKey = { readonly algorithm: Algorithm; readonly jwk: JWK };

export const toPublicJwk = ({ algorithm, jwk }: SigningKey): JWK => {
  const { d: _, ...open } = jwk;
  return { ...open, alg: algorithm };
};

/** Its private key is public, so its tokens prove nothing outside the lab. */
export const PUBLIC_AND_WORTHLESS_JWK: SigningKey = {
  algorithm: "Ed25519",
  jwk: {
    kty: "OKP",
    crv: "Ed25519",
    kid: "lab",
    x: "_lGx0O213C_VUKWVHwqRmbLB4ly-pK2otX7xFQ82h3Q",
    d: "C3Ags7SpH4atdXMaV2Qk6svmeQfYaHrqaJ1ZTPl8KJg",
  },
};

export const toIssuer = (zoneName: string): string => `issuer.${zoneName}`;

/** Domains whose addresses the lab's issuer signs, and one domain whose delegation is invalid. */
export const buildIssuerZone = (zoneName: string): Zone => {
  const record = `iss=${toIssuer(zoneName)}`;
  return {
    [toIssuer(zoneName)]: { A: ["127.0.0.1"] },
    [`${DELEGATION_LABEL}.valid.${zoneName}`]: { TXT: [record] },
    [`${DELEGATION_LABEL}.good.senders.${zoneName}`]: { TXT: [record] },
    [`${DELEGATION_LABEL}.double.senders.${zoneName}`]: { TXT: [record, "iss=other.example"] },
  };
};

/**
 * The documents of the lab's issuer. All documents are below one host without a trusted certificate, so the lab passes them directly and
 * does not serve them. Undefined when the URL belongs to another host.
 */
export const readIssuerDocument = (
  zoneName: string,
  url: string,
): ReturnType<FetchDocument> | undefined => {
  const origin = `https://${toIssuer(zoneName)}`;
  if (!url.startsWith(`${origin}/`)) return undefined;
  const documents: Readonly<Record<string, unknown>> = {
    "/.well-known/email-verification": {
      issuer: origin,
      issuance_endpoint: `${origin}/issue`,
      jwks_uri: `${origin}/keys`,
      signing_alg_values_supported: [PUBLIC_AND_WORTHLESS_JWK.algorithm],
    },
    "/keys": { keys: [toPublicJwk(PUBLIC_AND_WORTHLESS_JWK)] },
  };
  const document = documents[url.slice(origin.length)];
  return Promise.resolve({
    kind: "answer",
    status: document ? 200 : 404,
    contentType: "application/json",
    body: document ? JSON.stringify(document) : "",
    isComplete: true,
  });
};
