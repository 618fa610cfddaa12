import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { parseDkimKey } from "../../dkim/key.ts";
import { type Dns, getRecords, isFault } from "../../dns/dns.ts";
import { parseTagList } from "../../tag-list.ts";
import { findFields, type HeaderField } from "../parse/fields.ts";
import {
  type BodyHasher,
  canonicaliseField,
  emptySignatureTag,
  selectFields,
} from "./canonicalise.ts";
import {
  type MessageSignature,
  readSignature,
  removeSpace,
  type SignatureAlgorithm,
  type SignatureFault,
} from "./signature.ts";

type KeyFault =
  | "dns"
  | "key_missing"
  | "key_revoked"
  | "key_syntax"
  | "key_short"
  | "key_type"
  | "key_hash"
  | "key_service";

type SigningKey = {
  readonly key: KeyObject;
  readonly bits: number | null;
  readonly isTesting: boolean;
  /** t=s: the domain of i= must be d= itself. */
  readonly isStrict: boolean;
};

type KeyReading =
  | ({ readonly kind: "key" } & SigningKey)
  | { readonly kind: "fault"; readonly fault: KeyFault; readonly bits: number | null };

/** RFC 8301 §3.2: verifiers must not accept shorter keys. */
const BITS_MIN = 1024;

/** Finds the public key of a signature (RFC 6376 §6.1.2). */
const findKey = async (
  dns: Dns,
  {
    selector,
    domain,
    algorithm,
  }: Readonly<{ selector: string; domain: string; algorithm: SignatureAlgorithm }>,
): Promise<KeyReading> => {
  const outcome = await dns("TXT", `${selector}._domainkey.${domain}`);
  if (isFault(outcome)) return createFault("dns");
  const texts = getRecords(outcome);
  // RFC 6376 §3.6.2.2 defines no result for several keys, so the first one counts. Other texts next to a key are ignored.
  const text = texts.find((one) => parseDkimKey(one) !== undefined);
  if (text === undefined) return createFault(texts.length === 0 ? "key_missing" : "key_syntax");
  return readKey(text, algorithm);
};

const createFault = (fault: KeyFault, bits: number | null = null): KeyReading => ({
  kind: "fault",
  fault,
  bits,
});

const readKey = (text: string, algorithm: SignatureAlgorithm): KeyReading => {
  const parsed = parseDkimKey(text);
  if (!parsed || parsed.kind === "broken") return createFault("key_syntax");
  if (parsed.kind === "revoked") return createFault("key_revoked");
  if (!parsed.isForMail) return createFault("key_service");
  if (!parsed.allowsSha256) return createFault("key_hash");
  const { kind, bits, isTesting } = parsed;
  if (bits !== null && bits < BITS_MIN) return createFault("key_short", bits);
  if (!algorithm.startsWith(kind)) return createFault("key_type", bits);

  const { tags } = parseTagList(text);
  const valueOf = (name: string) => tags.find((tag) => tag.name === name)?.value ?? "";
  const key = toKeyObject(Buffer.from(removeSpace(valueOf("p")), "base64"), kind);
  const flags = valueOf("t")
    .toLowerCase()
    .split(":")
    .map((flag) => flag.trim());
  if (!key) return createFault("key_syntax", bits);
  return { kind: "key", key, bits, isTesting, isStrict: flags.includes("s") };
};

const ED25519_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

const toKeyObject = (bytes: Buffer, kind: "rsa" | "ed25519"): KeyObject | undefined => {
  const der = kind === "ed25519" ? Buffer.concat([ED25519_PREFIX, bytes]) : bytes;
  for (const type of ["spki", "pkcs1"] as const) {
    try {
      return createPublicKey({ key: der, format: "der", type });
    } catch {
      // The loop tries the other form.
    }
  }
  return undefined;
};

export type SignatureReason =
  | SignatureFault
  | KeyFault
  | "body_hash"
  | "body_length"
  | "signature"
  | "weak_algorithm"
  | "expired"
  | "not_checked";

/** RFC 8601 §2.7.1. `policy`: valid, but not accepted. `neutral`: the verifier could not process it. */
export type SignatureResult = "pass" | "fail" | "policy" | "neutral" | "temperror";

/** The result for each reason. A failed DNS query proves nothing about a signature. */
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
  readonly reason: SignatureReason | null;
  readonly domain: string | null;
  readonly selector: string | null;
  readonly algorithm: string | null;
  readonly keyBits: number | null;
  /** "relaxed/simple": the form of the header, then of the body. */
  readonly canonicalisation: string | null;
  /** The names in h=, in lower case, up to a limit. */
  readonly signedFields: readonly string[];
  readonly unsignedBytes: number;
  readonly isTesting: boolean;
  readonly signedAt: string | null;
  readonly expiresAt: string | null;
};

/** Each signature costs a look-up and a verification. Mail has one or two. */
const SIGNATURES_MAX = 10;

export type ReadSignature = Pick<MessageSignature, "domain" | "selector" | "algorithm"> &
  Pick<MessageSignature, "identityDomain" | "signature"> & {
    readonly reason: SignatureReason | null;
    readonly bytes: Uint8Array;
    readonly unsignedBytes: number;
  };

export type ReadDkim = {
  readonly result: DkimResult;
  readonly signature: ReadSignature | null;
};

/** Reads the DKIM signatures of a message (RFC 6376 §6, RFC 8301, RFC 8463) in its order, up to a limit. */
export const readDkim = (
  fields: readonly HeaderField[],
  hashBody: BodyHasher,
): readonly ReadDkim[] =>
  findFields(fields, "dkim-signature")
    .slice(0, SIGNATURES_MAX + 1)
    .map((field, index) => {
      const reading = readSignature(field, "dkim");
      if (reading.kind === "fault")
        return { result: createResult(reading.fault, reading), signature: null };
      if (index >= SIGNATURES_MAX)
        return { result: createResult("not_checked", reading.signature), signature: null };
      const signature = readSigned(fields, hashBody, reading.signature);
      const { reason, unsignedBytes } = signature;
      return { result: { ...createResult(reason, reading.signature), unsignedBytes }, signature };
    });

export const verifyDkim = (
  dns: Dns,
  read: readonly ReadDkim[],
  now: Date,
): Promise<readonly DkimResult[]> =>
  Promise.all(
    read.map(async ({ result, signature }) => {
      if (!signature) return result;
      const { reason, key } = await verifySignature(dns, signature);
      const isExpired = result.expiresAt !== null && Date.parse(result.expiresAt) < now.getTime();
      return {
        ...result,
        ...toOutcome(reason === null && isExpired ? "expired" : reason),
        keyBits: key?.bits ?? null,
        isTesting: key?.isTesting ?? false,
      };
    }),
  );

export const readSigned = (
  fields: readonly HeaderField[],
  hashBody: BodyHasher,
  { names, field, headerWay, bodyWay, bodyLimit, bodyHash, ...given }: MessageSignature,
): ReadSignature => {
  const { domain, selector, algorithm, identityDomain, signature } = given;
  const base = { domain, selector, algorithm, identityDomain, signature, bytes: new Uint8Array() };
  // RFC 8301 §3.1 forbids rsa-sha1.
  if (algorithm === "rsa-sha1") return { ...base, reason: "weak_algorithm", unsignedBytes: 0 };
  const { hash, bodyLength } = hashBody(bodyWay, bodyLimit);
  const read = { ...base, unsignedBytes: Math.max(0, bodyLength - (bodyLimit ?? bodyLength)) };
  // RFC 6376 §3.5: l= must not be greater than the body.
  if ((bodyLimit ?? 0) > bodyLength) return { ...read, reason: "body_length" };
  if (hash !== bodyHash) return { ...read, reason: "body_hash" };
  const bytes = composeSignedFields(fields, { field, names, headerWay });
  return { ...read, reason: null, bytes };
};

type SignatureCheck = {
  readonly reason: SignatureReason | null;
  readonly key?: Pick<SigningKey, "bits" | "isTesting">;
};

export const verifySignature = async (dns: Dns, read: ReadSignature): Promise<SignatureCheck> => {
  if (read.reason !== null) return { reason: read.reason };
  const key = await findKey(dns, read);
  if (key.kind === "fault") return { reason: key.fault, key: { bits: key.bits, isTesting: false } };
  if (key.isStrict && read.identityDomain !== read.domain)
    return { reason: "identity_domain", key };
  return { reason: isSignedBy(key, read) ? null : "signature", key };
};

/** RFC 6376 §3.7: joins the fields of h=, then the signature's own field, which h= never selects. */
const composeSignedFields = (
  fields: readonly HeaderField[],
  { field, names, headerWay }: Pick<MessageSignature, "field" | "names" | "headerWay">,
): Buffer => {
  const others = fields.filter((one) => one !== field);
  const signed = selectFields(others, names).map(
    ({ raw }) => `${canonicaliseField(raw, headerWay)}\r\n`,
  );
  const own = emptySignatureTag(canonicaliseField(field.raw, headerWay));
  return Buffer.from([...signed, own].join(""), "latin1");
};

const isSignedBy = (
  { key }: Pick<SigningKey, "key">,
  { algorithm, signature, bytes }: ReadSignature,
): boolean => {
  const signed = Buffer.from(signature, "base64");
  try {
    return algorithm === "ed25519-sha256"
      ? // RFC 8463 §3: Ed25519 signs the hash.
        verify(null, createHash("sha256").update(bytes).digest(), key, signed)
      : verify("sha256", bytes, key, signed);
  } catch {
    // OpenSSL throws for a modulus or an exponent above its limits.
    return false;
  }
};

const toTime = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(seconds * 1_000).toISOString();

type Described = Pick<DkimResult, "domain" | "selector"> &
  Partial<Omit<MessageSignature, "domain" | "selector">>;

/** A result shows at most this number of names; real signatures name some thirty fields. */
const NAMES_SHOWN_MAX = 100;
const NAME_SHOWN_MAX = 80;

const createResult = (
  reason: SignatureReason | null,
  { domain, selector, algorithm, headerWay, bodyWay, names, signedAt, expiresAt }: Described,
): DkimResult => ({
  ...toOutcome(reason),
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
});

const toOutcome = (reason: SignatureReason | null) => ({
  result: reason === null ? ("pass" as const) : RESULT_OF_REASON[reason],
  reason,
});
