import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { addMs, DAY_MS } from "@mailproof/core/lib/time";

// Node reads X.509 and cannot create it. Senders encrypt without a check of the certificate (RFC 3207), so a self-signed one serves them.
// This module writes its few required fields (RFC 5280 §4.1), in DER.

export type Certificate = { readonly key: string; readonly cert: string };

const VALID_DAYS = 365 * 5;
/** A sender's clock may be a little behind. */
const VALID_BEFORE_DAYS = 1;

export const createSelfSigned = (host: string, now: Date): Certificate => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signed = sequence(
    explicit(0, integer(Buffer.from([2]))),
    // The first byte makes the number positive and not 0.
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    createName(host),
    sequence(
      toTime(addMs(now, -VALID_BEFORE_DAYS * DAY_MS)),
      toTime(addMs(now, VALID_DAYS * DAY_MS)),
    ),
    createName(host),
    publicKey.export({ type: "spki", format: "der" }),
    explicit(
      3,
      sequence(sequence(SUBJECT_ALT_NAME, tag(0x04, sequence(tag(0x82, Buffer.from(host)))))),
    ),
  );
  const signature = sign("sha256", signed, privateKey);
  const cert = sequence(signed, ECDSA_WITH_SHA256, tag(0x03, Buffer.from([0]), signature));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: toPem(cert),
  };
};

const tag = (type: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([type, ...toLength(content.length)]), content]);
};

/** Lengths below 128 take one byte; longer ones start with the number of their bytes (X.690 §8.1.3). */
const toLength = (length: number): readonly number[] => {
  if (length < 128) return [length];
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  return [0x80 | bytes.length, ...bytes];
};

const sequence = (...parts: readonly Buffer[]): Buffer => tag(0x30, ...parts);
const integer = (bytes: Buffer): Buffer => tag(0x02, bytes);
const explicit = (number: number, content: Buffer): Buffer => tag(0xa0 + number, content);
const oid = (hex: string): Buffer => tag(0x06, Buffer.from(hex, "hex"));

const ECDSA_WITH_SHA256 = sequence(oid("2a8648ce3d040302"));
const SUBJECT_ALT_NAME = oid("551d11");
const COMMON_NAME = oid("550403");
/** The longest common name; the alternative name holds the whole name. */
const COMMON_NAME_MAX = 64;

const createName = (host: string): Buffer => {
  const name = tag(0x0c, Buffer.from(host.slice(0, COMMON_NAME_MAX)));
  return sequence(tag(0x31, sequence(COMMON_NAME, name)));
};

const toTime = (at: Date): Buffer =>
  tag(0x18, Buffer.from(`${at.toISOString().replaceAll(/[-:T]|\.\d+Z/g, "")}Z`));

const toPem = (der: Buffer): string => {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
};
