import {
  createHash,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
} from "node:crypto";
import type { World } from "../ports/world.ts";

// The keys that sign receipts: one for each year, all made from the operator's SEALING_KEY, so none is stored. The key
// set names each from the first year on up to next year's. A year's key is public for a year before it signs, so nobody
// who keeps the set for a while meets a key that it lacks; and a receipt can be checked as long as the setting is the same.

type KeySettings = { readonly settings: Pick<World["settings"], "encryptionKey"> };

/** The year of the first receipt. */
const FIRST_YEAR = 2026;

/** A public key as RFC 8037 has it. */
export type ReceiptJwk = {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
  readonly kid: string;
  readonly alg: "EdDSA";
  readonly use: "sig";
};

export type ReceiptKey = { readonly privateKey: KeyObject; readonly jwk: ReceiptJwk };

const SEED_BYTES = 32;
/** What stands before the seed in PKCS #8 (RFC 8410 §7): a sequence, version 0, the algorithm, and the seed's length. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

export const deriveReceiptKey = ({ settings }: KeySettings, year: number): ReceiptKey => {
  const purpose = `mailproof verdict receipts ${year}`;
  const seed = hkdfSync("sha256", settings.encryptionKey, "", purpose, SEED_BYTES);
  const key = Buffer.concat([PKCS8_HEAD, Buffer.from(seed)]);
  const privateKey = createPrivateKey({ key, format: "der", type: "pkcs8" });
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  const named = { kty: "OKP", crv: "Ed25519", x } as const;
  const kid = `${year}-${computeThumbprint(named).slice(0, THUMBPRINT_LENGTH)}`;
  return { privateKey, jwk: { ...named, kid, alg: "EdDSA", use: "sig" } };
};

/** Enough to tell the keys of two services, or of two settings, from each other. */
const THUMBPRINT_LENGTH = 8;

/** RFC 7638 §3.2: of the required members alone, in the order of the alphabet. */
const computeThumbprint = ({ kty, crv, x }: Pick<ReceiptJwk, "kty" | "crv" | "x">): string =>
  createHash("sha256").update(JSON.stringify({ crv, kty, x })).digest("base64url");

/** The key set (RFC 7517 §5), newest last. */
export const listReceiptKeys = (
  world: KeySettings & Pick<World, "now">,
): { readonly keys: readonly ReceiptJwk[] } => {
  const years = world.now().getUTCFullYear() + 2 - FIRST_YEAR;
  return {
    keys: Array.from({ length: years }, (_, at) => deriveReceiptKey(world, FIRST_YEAR + at).jwk),
  };
};
