import { createHmac } from "node:crypto";
import { crc32 } from "node:zlib";

export const KEY_MODES = ["live", "test"] as const;

/** Live keys cost credits and reach real data. Test keys get made-up answers and cost nothing. */
export type KeyMode = (typeof KEY_MODES)[number];

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_BYTES = 16;
const RANDOM_DIGITS = 22; // 62^22 > 2^128
const CHECKSUM_DIGITS = 6; // 62^6 > 2^32
const KEY_PATTERN = new RegExp(`^mp_(live|test)_[0-9A-Za-z]{${RANDOM_DIGITS + CHECKSUM_DIGITS}}$`);

/** mp_live_ or mp_test_, 128 random bits, and a checksum over all that stands before it. */
export const generateKey = (mode: KeyMode, randomBytes: (count: number) => Uint8Array): string => {
  const bits = BigInt(`0x${Buffer.from(randomBytes(RANDOM_BYTES)).toString("hex")}`);
  const body = `mp_${mode}_${toBase62(bits, RANDOM_DIGITS)}`;
  return body + computeChecksum(body);
};

/** A mistyped or cut-off key is told from its checksum, without a look into the table. */
export const isWellFormedKey = (key: string): boolean =>
  KEY_PATTERN.test(key) && key.endsWith(computeChecksum(key.slice(0, -CHECKSUM_DIGITS)));

/** What is stored in the key's place. Without the pepper it says nothing about the key. */
export const hashKey = (key: string, pepper: string): string =>
  createHmac("sha256", pepper).update(key).digest("base64url");

/** Enough to tell two keys apart in a list, and not enough to guess one. */
export const toKeyHint = (key: string): string =>
  `${key.slice(0, key.lastIndexOf("_") + 1)}…${key.slice(-4)}`;

const computeChecksum = (body: string): string => toBase62(BigInt(crc32(body)), CHECKSUM_DIGITS);

const toBase62 = (value: bigint, digits: number): string => {
  let text = "";
  for (let rest = value; text.length < digits; rest /= 62n)
    text = ALPHABET[Number(rest % 62n)] + text;
  return text;
};
