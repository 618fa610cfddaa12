import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

// A signer of its own for mails, so that neither of two verifiers is compared with itself. It signs whatever it is given,
// wrong tags too. Texts are latin-1.

export type SigningKey = {
  readonly name: string;
  readonly kind: "rsa" | "ed25519";
  readonly privateKey: KeyObject;
  /** As p= has it. */
  readonly published: string;
};

const createRsa = (bits: number, type: "spki" | "pkcs1" = "spki"): SigningKey => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: bits });
  const published = publicKey.export({ type, format: "der" }).toString("base64");
  return { name: `rsa ${bits} ${type}`, kind: "rsa", privateKey, published };
};

const createEd25519 = (): SigningKey => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const spki = publicKey.export({ type: "spki", format: "der" });
  const published = spki.subarray(-32).toString("base64");
  return { name: "ed25519", kind: "ed25519", privateKey, published };
};

export const KEYS: readonly SigningKey[] = [
  createRsa(2048),
  createEd25519(),
  createRsa(1024),
  createRsa(512),
  createRsa(4096),
  createRsa(2048, "pkcs1"),
];

export type Way = "simple" | "relaxed";

const hash = (text: string) => createHash("sha256").update(Buffer.from(text, "latin1")).digest();

const toRelaxedField = (raw: string): string => {
  const [name = "", ...parts] = raw.split(":");
  const value = parts
    .join(":")
    .replaceAll("\r\n", "")
    .replaceAll(/[\t ]+/g, " ")
    .replaceAll(/^ | $/g, "");
  const lower = name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return `${lower.replace(/[\t ]+$/, "")}:${value}`;
};

const canonField = (raw: string, way: Way) => (way === "simple" ? raw : toRelaxedField(raw));

const canonBody = (body: string, way: Way): string => {
  const lines = body.replaceAll(/\r?\n/g, "\r\n").split("\r\n");
  const shown =
    way === "simple"
      ? lines
      : lines.map((line) => line.replaceAll(/[\t ]+/g, " ").replace(/ $/, ""));
  while (shown.at(-1) === "") shown.pop();
  return shown.length === 0 && way === "relaxed" ? "" : [...shown, ""].join("\r\n") || "\r\n";
};

export type SignatureTags = readonly (readonly [name: string, value: string])[];

export type SignatureOptions = {
  readonly key: SigningKey;
  readonly headerWay: Way;
  readonly bodyWay: Way;
  /** As in h=. */
  readonly names: readonly string[];
  /** The tags before bh= and b=, as they are written. */
  readonly tags: SignatureTags;
  readonly limit?: number | undefined;
  readonly fieldName?: string;
  /** What stands between the tags. */
  readonly separator?: string;
};

export const getBodyLength = (body: string, way: Way): number => canonBody(body, way).length;

const signBytes = (key: KeyObject, kind: SigningKey["kind"], text: string): string =>
  (kind === "rsa"
    ? sign("sha256", Buffer.from(text, "latin1"), key)
    : sign(null, hash(text), key)
  ).toString("base64");

const listFields = (header: string): readonly string[] =>
  header.split(/\r\n(?![\t ])/).filter((field) => field !== "");

const select = (header: string, names: readonly string[]): readonly string[] => {
  const left = [...listFields(header)];
  return names.flatMap((name) => {
    const at = left.findLastIndex(
      (field) => (field.split(":", 1)[0] ?? "").trimEnd().toLowerCase() === name.toLowerCase(),
    );
    return at < 0 ? [] : left.splice(at, 1);
  });
};

/** A DKIM-Signature or ARC-Message-Signature field for a message, without the end of its line. */
export const signMail = (
  { header, body }: { readonly header: string; readonly body: string },
  { key, headerWay, bodyWay, names, tags, limit, ...more }: SignatureOptions,
): string => {
  const { fieldName = "DKIM-Signature", separator = ";\r\n\t" } = more;
  const bh = hash(canonBody(body, bodyWay).slice(0, limit)).toString("base64");
  const list = [...tags, ["h", names.join(" : ")], ["bh", bh]];
  const open = `${fieldName}: ${list.map(([name, value]) => `${name}=${value}`).join(separator)}${separator}b=`;
  const signed = select(header, names).map((raw) => `${canonField(raw, headerWay)}\r\n`);
  return open + signBytes(key.privateKey, key.kind, signed.join("") + canonField(open, headerWay));
};

/** The ARC-Seal of a set: `fields` are those of all sets so far, in the order of RFC 8617 §5.1.1. */
export const stampChain = (
  key: SigningKey,
  fields: readonly string[],
  tags: SignatureTags,
): string => {
  const open = `ARC-Seal: ${tags.map(([name, value]) => `${name}=${value}`).join("; ")}; b=`;
  const text = [...fields, open].map(toRelaxedField).join("\r\n");
  return open + signBytes(key.privateKey, key.kind, text);
};
