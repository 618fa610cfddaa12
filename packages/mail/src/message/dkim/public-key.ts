import { createPublicKey, type KeyObject } from "node:crypto";
import { parseDkimKey } from "../../dkim/key.ts";
import type { Dns } from "../../dns/dns.ts";
import { getRecords, isFault } from "../../dns/outcome.ts";
import { parseTagList } from "../../tag-list.ts";
import { removeSpace, type SignatureAlgorithm } from "./signature.ts";

export type KeyFault =
  | "dns"
  | "key_missing"
  | "key_revoked"
  | "key_syntax"
  | "key_short"
  | "key_type"
  | "key_hash"
  | "key_service";

export type SigningKey = {
  readonly key: KeyObject;
  readonly bits: number | null;
  readonly isTesting: boolean;
  /** t=s: the domain of i= must be d= itself. */
  readonly isStrict: boolean;
};

export type KeyReading =
  | ({ readonly kind: "key" } & SigningKey)
  | { readonly kind: "fault"; readonly fault: KeyFault; readonly bits: number | null };

/** RFC 8301 §3.2: verifiers must not accept shorter keys. */
const BITS_MIN = 1024;

/** Finds the public key of a signature (RFC 6376 §6.1.2). */
export const findKey = async (
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
