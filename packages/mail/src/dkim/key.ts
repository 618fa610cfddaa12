import { createPublicKey } from "node:crypto";
import { listRepeated, parseTagList } from "../tag-list.ts";

/** A shorter RSA key is valid, and should be replaced. */
export const STRONG_FROM_BITS = 2048;

export type DkimKey = {
  readonly kind: "rsa" | "ed25519" | "revoked" | "broken";
  readonly bits: number | null;
  readonly fault: string | null;
  /** t=y: receivers treat the mail as if it were not signed. */
  readonly isTesting: boolean;
  /** h= allows sha256, the only hash that RFC 8301 §3.1 still permits. */
  readonly allowsSha256: boolean;
  readonly isForMail: boolean;
};

/** Parses a key record (RFC 6376 §3.6.1). Undefined for a text that is not meant as a key. */
export const parseDkimKey = (text: string): DkimKey | undefined => {
  const { tags, strays } = parseTagList(text);
  const valueOf = (name: string) => tags.find((tag) => tag.name === name)?.value;
  const version = valueOf("v");
  const isAttempt = version === undefined ? valueOf("p") !== undefined : /^dkim/i.test(version);
  if (!isAttempt) return undefined;

  const lists = (name: string) =>
    (valueOf(name) ?? "")
      .toLowerCase()
      .split(":")
      .map((one) => one.trim());
  const hashes = lists("h");
  const services = lists("s");
  const common = {
    isTesting: lists("t").includes("y"),
    allowsSha256: hashes.join("") === "" || hashes.includes("sha256"),
    isForMail: services.join("") === "" || services.includes("*") || services.includes("email"),
  };
  const names = tags.map(({ name }) => name);
  const fault = findFault(names, strays, version);
  if (fault !== undefined) return { ...common, kind: "broken", bits: null, fault };
  return { ...common, ...readKey((valueOf("k") ?? "rsa").toLowerCase(), valueOf("p") ?? "") };
};

const findFault = (
  names: readonly string[],
  strays: readonly string[],
  version: string | undefined,
): string | undefined => {
  const [twice] = listRepeated(names);
  if (version !== undefined && version !== "DKIM1") return "its version is not DKIM1";
  if (version !== undefined && names[0] !== "v") return "v=DKIM1 is not its first tag";
  if (twice !== undefined) return `it has ${twice}= twice`;
  if (!names.includes("p")) return "it has no p=";
  return strays.length > 0 ? "a part of it is not name=value" : undefined;
};

type KeyReading = Pick<DkimKey, "kind" | "bits" | "fault">;

const createBroken = (fault: string): KeyReading => ({ kind: "broken", bits: null, fault });

const readKey = (type: string, written: string): KeyReading => {
  // RFC 6376 §3.2: white space may occur anywhere within base64.
  const base64 = written.replaceAll(/\s/g, "");
  // RFC 6376 §3.6.1: an empty value means that this key has been revoked.
  if (base64 === "") return { kind: "revoked", bits: null, fault: null };
  if (!/^[A-Za-z\d+/]+={0,2}$/.test(base64)) return createBroken("p= is not base64");
  const bytes = Buffer.from(base64, "base64");
  if (type === "ed25519") return readEd25519(bytes);
  return type === "rsa" ? readRsa(bytes) : createBroken(`k=${type} is not a known kind of key`);
};

/** RFC 8463 §4: the 32 bytes of the key, without ASN.1 around them. */
const readEd25519 = (bytes: Uint8Array): KeyReading =>
  bytes.length === 32
    ? { kind: "ed25519", bits: null, fault: null }
    : createBroken("an Ed25519 key has 32 bytes");

const readRsa = (bytes: Buffer): KeyReading => {
  for (const type of RSA_FORMS) {
    const bits = modulusBits(bytes, type);
    if (bits !== undefined) return { kind: "rsa", bits, fault: null };
  }
  return createBroken("p= holds no RSA key");
};

/** The form that domains publish, and the form that RFC 6376 §3.6.1 describes. Verifiers accept both. */
const RSA_FORMS = ["spki", "pkcs1"] as const;

const modulusBits = (key: Buffer, type: (typeof RSA_FORMS)[number]): number | undefined => {
  try {
    return createPublicKey({ key, format: "der", type }).asymmetricKeyDetails?.modulusLength;
  } catch {
    return undefined;
  }
};
