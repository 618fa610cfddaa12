import * as v from "valibot";
import { type Dns, getRecords, isFault } from "../dns/dns.ts";
import { isDomain, parseDomain } from "../domain.ts";
import { isSameAlgorithm, type PublicKey, readPublicKey } from "./keys.ts";
import { DELEGATION_LABEL, ISSUER_FORMS, type IssuerForm } from "./profiles.ts";

/** Reads an issuer's host exactly as the token or the record writes it: the comparison is byte for byte. */
export const readIssuerHost = (text: string, forms: readonly IssuerForm[]): string | undefined => {
  const isOrigin = text.startsWith(HTTPS);
  if (!forms.includes(isOrigin ? "origin" : "host")) return undefined;
  const host = isOrigin ? text.slice(HTTPS.length) : text;
  const domain = parseDomain(host);
  return isDomain(domain) && domain.ascii === host ? host : undefined;
};

const HTTPS = "https://";

/** The issuer that a domain's DNS names for its addresses. */
export type Delegation =
  | { readonly kind: "delegated"; readonly issuer: string }
  | { readonly kind: "absent" }
  | { readonly kind: "faulty"; readonly fault: string }
  | { readonly kind: "unknown" };

export const findDelegation = async (dns: Dns, domain: string): Promise<Delegation> => {
  const name = `${DELEGATION_LABEL}.${domain}`;
  // No such name can exist (RFC 1035 §2.3.4).
  if (name.length > NAME_MAX) return { kind: "absent" };
  const outcome = await dns("TXT", name);
  if (isFault(outcome)) return { kind: "unknown" };
  const [record, ...others] = getRecords(outcome);
  if (record === undefined) return { kind: "absent" };
  if (others.length > 0) return createFault("there is more than one");
  if (!record.startsWith(ISSUER_TAG)) return createFault("it does not begin with iss=");
  const issuer = readIssuerHost(record.slice(ISSUER_TAG.length).trim(), ISSUER_FORMS);
  return issuer === undefined
    ? createFault("iss= is neither a host name in lower case nor https:// with one")
    : { kind: "delegated", issuer };
};

const NAME_MAX = 253;
const ISSUER_TAG = "iss=";

export type Faulty = { readonly kind: "faulty"; readonly fault: string };
const createFault = (fault: string): Faulty => ({ kind: "faulty", fault });

export const toMetadataUrl = (issuer: string): string =>
  `${HTTPS}${issuer}/.well-known/email-verification`;

const Metadata = v.object({
  issuer: v.optional(v.string()),
  issuance_endpoint: v.string(),
  jwks_uri: v.string(),
  signing_alg_values_supported: v.optional(v.array(v.string())),
});

export type IssuerMetadata = {
  readonly kind: "metadata";
  readonly keysUrl: string;
  readonly algorithms: readonly string[];
};

/** Reads an issuer's metadata. Its URLs must be on the issuer's own hosts, so that nobody can substitute another issuer's document. */
export const readMetadata = (body: string, issuer: string): IssuerMetadata | Faulty => {
  const parsed = v.safeParse(Metadata, parseJson(body));
  if (!parsed.success)
    return createFault("what is there is not JSON with an issuance_endpoint and a jwks_uri");
  const { issuance_endpoint, jwks_uri, signing_alg_values_supported, ...named } = parsed.output;
  if (named.issuer !== undefined && readIssuerHost(named.issuer, ISSUER_FORMS) !== issuer)
    return createFault("issuer is another one");
  if (readOwnUrl(issuance_endpoint, issuer) === undefined)
    return createFault(`issuance_endpoint is no https address at ${issuer}`);
  const keysUrl = readOwnUrl(jwks_uri, issuer);
  return keysUrl === undefined
    ? createFault(`jwks_uri is no https address at ${issuer}`)
    : { kind: "metadata", keysUrl, algorithms: signing_alg_values_supported ?? [] };
};

const readOwnUrl = (text: string, issuer: string): string | undefined => {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isOwn = url.hostname === issuer || url.hostname.endsWith(`.${issuer}`);
  const isPlain = url.protocol === "https:" && `${url.port}${url.username}${url.password}` === "";
  return isOwn && isPlain ? url.href : undefined;
};

export const supports = ({ algorithms }: IssuerMetadata, algorithm: string): boolean =>
  algorithms.length === 0 || algorithms.some((one) => isSameAlgorithm(one, algorithm));

export type IssuerKeys = { readonly kind: "keys"; readonly keys: readonly PublicKey[] };

const KeySet = v.object({ keys: v.array(v.unknown()) });

/** Reads a key set, and skips keys of kinds that this code does not support (RFC 7517 §5). */
export const readKeys = (body: string): IssuerKeys | Faulty => {
  const parsed = v.safeParse(KeySet, parseJson(body));
  if (!parsed.success) return createFault("what is there is no JSON Web Key Set");
  const keys = parsed.output.keys.map(readPublicKey).filter((key) => key !== undefined);
  return keys.length > 0 ? { kind: "keys", keys } : createFault("none is a public key");
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
