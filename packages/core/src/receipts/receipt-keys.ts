import {
  createHash,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
} from "node:crypto";
import type { World } from "../ports/world.ts";

// One key signs the receipts of each year. All keys derive from the operator's SEALING_KEY, so none is stored. The key set
// lists the first year to next year: a key is public for a year before it signs, so a client that caches the set does not lack
// it. A receipt can be checked while its SEALING_KEY is the current one or the one before.

type KeySettings = { readonly settings: Pick<World["settings"], "encryptionKey"> };

const FIRST_YEAR = 2026;

/** A public key in the form of RFC 8037. */
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
/** The bytes before the seed in PKCS #8 (RFC 8410 §7): a sequence, version 0, the algorithm, and the seed's length. */
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

/** Long enough to distinguish the keys of two services or two settings. */
const THUMBPRINT_LENGTH = 8;

/** RFC 7638 §3.2: only the required members, in alphabetical order. */
const computeThumbprint = ({ kty, crv, x }: Pick<ReceiptJwk, "kty" | "crv" | "x">): string =>
  createHash("sha256").update(JSON.stringify({ crv, kty, x })).digest("base64url");

/** The key set (RFC 7517 §5), newest last: those of the SEALING_KEY before come first. */
export const listReceiptKeys = ({
  now,
  settings,
}: Pick<World, "now"> & {
  readonly settings: Pick<World["settings"], "encryptionKey" | "encryptionKeyBefore">;
}): { readonly keys: readonly ReceiptJwk[] } => {
  const { encryptionKey, encryptionKeyBefore } = settings;
  const years = Array.from(
    { length: now().getUTCFullYear() + 2 - FIRST_YEAR },
    (_, at) => FIRST_YEAR + at,
  );
  const listOf = (key: string) =>
    years.map((year) => deriveReceiptKey({ settings: { encryptionKey: key } }, year).jwk);
  return {
    keys: [
      ...(encryptionKeyBefore === null ? [] : listOf(encryptionKeyBefore)),
      ...listOf(encryptionKey),
    ],
  };
};
