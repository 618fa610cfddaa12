import { createHmac } from "node:crypto";
import { crc32 } from "node:zlib";
import type { KeyMode } from "../money/payer.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_BYTES = 16;
const RANDOM_DIGITS = 22; // 62^22 > 2^128
const CHECKSUM_DIGITS = 6; // 62^6 > 2^32
const KEY_PATTERN = new RegExp(
  `^mp_(live|test|pub)_[0-9A-Za-z]{${RANDOM_DIGITS + CHECKSUM_DIGITS}}$`,
);

/** Generates mp_live_, mp_test_ or mp_pub_, then 128 random bits, then a checksum of both. The item of a public key stores its mode. */
export const generateKey = (
  kind: KeyMode | "pub",
  randomBytes: (count: number) => Uint8Array,
): string => {
  const bits = BigInt(`0x${Buffer.from(randomBytes(RANDOM_BYTES)).toString("hex")}`);
  const body = `mp_${kind}_${toBase62(bits, RANDOM_DIGITS)}`;
  return body + computeChecksum(body);
};

/** The checksum detects a mistyped or truncated key without a read of the table. */
export const isWellFormedKey = (key: string): boolean =>
  KEY_PATTERN.test(key) && key.endsWith(computeChecksum(key.slice(0, -CHECKSUM_DIGITS)));

/** The table stores this hash instead of the key. Without the pepper the hash reveals nothing about the key. */
export const hashKey = (key: string, pepper: string): string =>
  createHmac("sha256", pepper).update(key).digest("base64url");

/** The hint distinguishes two keys in a list, and does not help to guess a key. */
export const toKeyHint = (key: string): string =>
  `${key.slice(0, key.lastIndexOf("_") + 1)}…${key.slice(-4)}`;

const computeChecksum = (body: string): string => toBase62(BigInt(crc32(body)), CHECKSUM_DIGITS);

const toBase62 = (value: bigint, digits: number): string => {
  let text = "";
  for (let remaining = value; text.length < digits; remaining /= 62n)
    text = ALPHABET[Number(remaining % 62n)] + text;
  return text;
};
