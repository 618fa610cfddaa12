import type { AppWorld } from "@mailproof/core/app-world";
import { createIssuers } from "@mailproof/core/control/issuers";
import { createDocumentFetcher } from "@mailproof/core/deliverability/document-fetcher";
import type { HttpsFault, HttpsOutcome } from "@mailproof/core/ports/https";
import { type SigningKey, toPublicJwk } from "@mailproof/lab/issuer";
import { createSigningKey, createToken, type TokenChanges } from "@mailproof/lab/issuer-tokens";
import { createZoneDns, type Zone } from "../app/zone.ts";

export const EMAIL = "ann@example.com";
export const ISSUER = "issuer.example";
export const NONCE = "a nonce of the form";
export const ORIGIN = "https://shop.example";
export const METADATA_URL = `https://${ISSUER}/.well-known/email-verification`;
export const KEYS_URL = `https://${ISSUER}/keys`;

export const METADATA = {
  issuer: `https://${ISSUER}`,
  issuance_endpoint: `https://${ISSUER}/issue`,
  jwks_uri: KEYS_URL,
  signing_alg_values_supported: ["Ed25519"],
};

/** A domain with an issuer, and a visitor whose browser has a token of it. */
export const givenIssuer = async (
  world: AppWorld,
  {
    algorithm = "Ed25519" as SigningKey["algorithm"],
    kid = "k1" as string | null,
    zone = {} as Zone,
  } = {},
) => {
  const made = await createSigningKey(algorithm);
  const issuerKey = { ...made, jwk: { ...made.jwk, ...(kid !== null && { kid }) } };
  const browserKey = await createSigningKey("ES256");
  const dns = createZoneDns({
    "_email-verification.example.com": { TXT: [`iss=${ISSUER}`] },
    ...zone,
  });
  const names: string[] = [];
  const urls: string[] = [];
  const documents: Record<string, HttpsOutcome> = {};
  const serve = (
    url: string,
    document: unknown,
    more: Partial<Extract<HttpsOutcome, { kind: "answer" }>> = {},
  ) => {
    documents[url] = {
      kind: "answer",
      status: 200,
      contentType: "application/json",
      retryAfter: null,
      body: typeof document === "string" ? document : JSON.stringify(document),
      isComplete: true,
      ...more,
    };
  };
  const fail = (url: string, why: HttpsFault) => {
    documents[url] = { kind: "failed", why };
  };
  serve(METADATA_URL, { ...METADATA, signing_alg_values_supported: [algorithm] });
  serve(KEYS_URL, { keys: [toPublicJwk(issuerKey)] });
  const call = async ({ url }: { readonly url: string }): Promise<HttpsOutcome> => {
    urls.push(url);
    return documents[url] ?? { kind: "failed", why: "name_not_found" };
  };
  const issuers = createIssuers({
    dns: (type, name) => {
      names.push(name);
      return dns(type, name);
    },
    fetchDocument: createDocumentFetcher({ call }),
    now: world.now,
  });
  const about = {
    issuer: `https://${ISSUER}`,
    email: EMAIL,
    nonce: NONCE,
    origin: ORIGIN,
    issuerKey,
    browserKey,
  };
  return {
    world: { ...world, issuers },
    issuerKey,
    browserKey,
    asked: { names, urls },
    serve,
    fail,
    present: (changes: TokenChanges = {}, other: Partial<typeof about> = {}) =>
      createToken({ ...about, at: world.now(), ...other }, changes),
  };
};
