import { createHash, verify } from "node:crypto";
import type { Dns } from "../../../mail/dns/dns.ts";
import { findFields, type HeaderField } from "../parse/fields.ts";
import {
  type BodyHasher,
  canonicaliseField,
  emptySignatureTag,
  selectFields,
} from "./canonicalise.ts";
import { findKey, type KeyFault, type SigningKey } from "./public-key.ts";
import { type MessageSignature, readSignature, type SignatureFault } from "./signature.ts";

export type SignatureReason =
  | SignatureFault
  | KeyFault
  | "body_hash"
  | "body_length"
  | "signature"
  | "weak_algorithm"
  | "expired"
  | "not_checked";

/** RFC 8601 §2.7.1. `policy`: valid, but not accepted. `neutral`: it could not be processed. */
export type SignatureResult = "pass" | "fail" | "policy" | "neutral" | "temperror";

/** The result for each reason. A failed DNS query says nothing about a signature. */
const RESULT_OF_REASON: Readonly<Record<SignatureReason, SignatureResult>> = {
  syntax: "neutral",
  missing_tag: "neutral",
  version: "neutral",
  algorithm: "neutral",
  canonicalisation: "neutral",
  from_not_signed: "neutral",
  query_method: "neutral",
  identity_domain: "neutral",
  expiration: "neutral",
  dns: "temperror",
  key_missing: "neutral",
  key_revoked: "neutral",
  key_syntax: "neutral",
  key_short: "policy",
  key_type: "neutral",
  key_hash: "neutral",
  key_service: "neutral",
  body_hash: "fail",
  body_length: "neutral",
  signature: "fail",
  weak_algorithm: "policy",
  expired: "neutral",
  not_checked: "neutral",
};

export type DkimResult = {
  readonly result: SignatureResult;
  /** Null for a pass. */
  readonly reason: SignatureReason | null;
  readonly domain: string | null;
  readonly selector: string | null;
  readonly algorithm: string | null;
  /** Bits of an RSA key. */
  readonly keyBits: number | null;
  /** "relaxed/simple": of the header, then of the body. */
  readonly canonicalisation: string | null;
  /** The names in h=, in lower case; the first of very many. */
  readonly signedFields: readonly string[];
  /** Octets of the body that the signature leaves out (l=). */
  readonly unsignedBytes: number;
  readonly isTesting: boolean;
  /** ISO 8601. */
  readonly signedAt: string | null;
  readonly expiresAt: string | null;
};

/** Each costs a look-up and a verification. Mail has one or two. */
const SIGNATURES_MAX = 10;

/** Verifies all DKIM signatures of a message (RFC 6376 §6, RFC 8301, RFC 8463), in its order. */
export const verifyDkim = (
  dns: Dns,
  fields: readonly HeaderField[],
  hashBody: BodyHasher,
  now: Date,
): Promise<readonly DkimResult[]> =>
  Promise.all(
    findFields(fields, "dkim-signature").map(async (field, index) => {
      const reading = readSignature(field, "dkim");
      if (reading.kind === "fault") return createResult(reading.fault, reading);
      const { signature } = reading;
      if (index >= SIGNATURES_MAX) return createResult("not_checked", signature);
      const { reason, key, unsignedBytes } = await verifySignature(
        dns,
        fields,
        hashBody,
        signature,
      );
      const isExpired = signature.expiresAt !== null && signature.expiresAt * 1_000 < now.getTime();
      return createResult(reason === null && isExpired ? "expired" : reason, signature, {
        keyBits: key?.bits ?? null,
        isTesting: key?.isTesting ?? false,
        unsignedBytes,
      });
    }),
  );

type SignatureCheck = {
  readonly reason: SignatureReason | null;
  readonly key?: Pick<SigningKey, "bits" | "isTesting">;
  readonly unsignedBytes: number;
};

/** One signature over a message. ARC has one of the same kind in each set. */
export const verifySignature = async (
  dns: Dns,
  fields: readonly HeaderField[],
  hashBody: BodyHasher,
  signature: MessageSignature,
): Promise<SignatureCheck> => {
  // RFC 8301 §3.1.
  if (signature.algorithm === "rsa-sha1") return { reason: "weak_algorithm", unsignedBytes: 0 };
  const { hash, bodyLength } = hashBody(signature.bodyWay, signature.bodyLimit);
  const unsignedBytes = Math.max(0, bodyLength - (signature.bodyLimit ?? bodyLength));
  // RFC 6376 §3.5: l= must not be greater than the body.
  if ((signature.bodyLimit ?? 0) > bodyLength) return { reason: "body_length", unsignedBytes };
  if (hash !== signature.bodyHash) return { reason: "body_hash", unsignedBytes };

  const found = await findKey(dns, signature);
  if (found.kind === "fault")
    return { reason: found.fault, key: { bits: found.bits, isTesting: false }, unsignedBytes };
  const checked = { key: found, unsignedBytes };
  if (found.isStrict && signature.identityDomain !== signature.domain)
    return { reason: "identity_domain", ...checked };
  const isValid = isSignedBy(found, signature, composeSignedFields(fields, signature));
  return { reason: isValid ? null : "signature", ...checked };
};

/** §3.7: the fields of h=, then the signature's own. It signs no field twice, so it is not among the fields. */
const composeSignedFields = (
  fields: readonly HeaderField[],
  { field, names, headerWay }: MessageSignature,
): Buffer => {
  const others = fields.filter((one) => one !== field);
  const signed = selectFields(others, names).map(
    ({ raw }) => `${canonicaliseField(raw, headerWay)}\r\n`,
  );
  const own = emptySignatureTag(canonicaliseField(field.raw, headerWay));
  return Buffer.from([...signed, own].join(""), "latin1");
};

/** Whether the key's owner signed these bytes. */
export const isSignedBy = (
  { key }: Pick<SigningKey, "key">,
  { algorithm, signature }: Pick<MessageSignature, "algorithm" | "signature">,
  bytes: Buffer,
): boolean => {
  const signed = Buffer.from(signature, "base64");
  try {
    return algorithm === "ed25519-sha256"
      ? // RFC 8463 §3: Ed25519 signs the hash.
        verify(null, createHash("sha256").update(bytes).digest(), key, signed)
      : verify("sha256", bytes, key, signed);
  } catch {
    // A modulus or an exponent beyond what OpenSSL computes with.
    return false;
  }
};

const toTime = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(seconds * 1_000).toISOString();

type Described = Pick<DkimResult, "domain" | "selector"> &
  Partial<Omit<MessageSignature, "domain" | "selector">>;

/** Real signatures name some thirty fields. */
const NAMES_SHOWN_MAX = 100;
const NAME_SHOWN_MAX = 80;

const createResult = (
  reason: SignatureReason | null,
  { domain, selector, algorithm, headerWay, bodyWay, names, signedAt, expiresAt }: Described,
  checked: Partial<DkimResult> = {},
): DkimResult => ({
  result: reason === null ? "pass" : RESULT_OF_REASON[reason],
  reason,
  domain,
  selector,
  algorithm: algorithm ?? null,
  keyBits: null,
  canonicalisation: headerWay && bodyWay ? `${headerWay}/${bodyWay}` : null,
  signedFields: (names ?? [])
    .slice(0, NAMES_SHOWN_MAX)
    .map((name) => name.slice(0, NAME_SHOWN_MAX)),
  unsignedBytes: 0,
  isTesting: false,
  signedAt: toTime(signedAt ?? null),
  expiresAt: toTime(expiresAt ?? null),
  ...checked,
});
