import type { Dns } from "../../dns/dns.ts";
import { type BodyHasher, canonicaliseField, emptySignatureTag } from "../dkim/canonicalise.ts";
import { isKeyName, readSignature, readTags, removeSpace } from "../dkim/signature.ts";
import { type ReadSignature, readSigned, verifySignature } from "../dkim/verify.ts";
import { getValue, type HeaderField } from "../parse/fields.ts";

/** RFC 8617 §5.2. `temperror`: a key look-up failed, so the chain is neither valid nor broken. */
export type ArcResult = {
  readonly result: "none" | "pass" | "fail" | "temperror";
  readonly reason: string | null;
  readonly sets: readonly ArcSetSummary[];
};

export type ArcSetSummary = {
  readonly instance: number;
  readonly domain: string | null;
  readonly chain: string | null;
};

const NAMES = ["arc-authentication-results", "arc-message-signature", "arc-seal"] as const;

type ArcName = (typeof NAMES)[number];
type ArcSet = {
  readonly instance: number;
  readonly fields: Readonly<Record<ArcName, HeaderField>>;
};

/** RFC 8617 §4.2.1 allows at most 50 sets. */
const SETS_MAX = 50;

export type ReadArc = {
  readonly result: ArcResult;
  /** The newest ARC-Message-Signature, and then the ARC-Seals from the oldest on. */
  readonly signatures: readonly ReadSignature[];
};

/** RFC 8617 §5.2 steps 2 and 3. */
export const readArc = (fields: readonly HeaderField[], hashBody: BodyHasher): ReadArc => {
  const own = fields.filter(({ key }) => isArcName(key));
  if (own.length === 0)
    return { result: { result: "none", reason: null, sets: [] }, signatures: [] };
  const found = groupSets(own);
  const isGrouped = typeof found !== "string";
  const sets = isGrouped ? found.map(summarize) : [];
  const read = isGrouped ? (findChainFault(found) ?? readChain(fields, hashBody, found)) : found;
  return typeof read === "string"
    ? { result: { result: "fail", reason: read, sets }, signatures: [] }
    : { result: { result: "pass", reason: null, sets }, signatures: read };
};

/** Makes the checks of RFC 8617 §5.2 steps 4 and 6. */
export const verifyArc = async (dns: Dns, { result, signatures }: ReadArc): Promise<ArcResult> => {
  const checks = await Promise.all(signatures.map((one) => verifySignature(dns, one)));
  const broken = checks.findIndex(({ reason }) => reason !== null && reason !== "dns");
  const { reason } = checks[broken] ?? {};
  if (broken === 0)
    return {
      ...result,
      result: "fail",
      reason: `the newest arc-message-signature is not valid: ${reason}`,
    };
  if (broken > 0)
    return {
      ...result,
      result: "fail",
      reason: `the arc-seal of set ${broken} is not valid: ${reason}`,
    };
  return checks.some((check) => check.reason === "dns")
    ? { ...result, result: "temperror", reason: "dns" }
    : result;
};

const isArcName = (key: string): key is ArcName => NAMES.some((name) => name === key);

const INSTANCE = /^\d{1,2}$/;
/** RFC 8617 §4.1.1: the number of the set comes first in the results. */
const RESULTS_INSTANCE = /^i[\t ]*=[\t ]*(\d{1,2})[\t ]*;/;

const readInstance = (field: HeaderField): number | undefined => {
  const text =
    field.key === "arc-authentication-results"
      ? RESULTS_INSTANCE.exec(getValue(field))?.[1]
      : findTag(field, "i");
  const instance = INSTANCE.test(text ?? "") ? Number(text) : 0;
  return instance >= 1 && instance <= SETS_MAX ? instance : undefined;
};

const findTag = (field: HeaderField, name: string): string | undefined =>
  readTags(field).tags.find((tag) => tag.name === name)?.value;

/** RFC 8617 §5.2 step 3 A: groups the fields into sets, numbered from 1, each with its three fields once. Returns the reason on failure. */
const groupSets = (own: readonly HeaderField[]): readonly ArcSet[] | string => {
  const byInstance = new Map<number, Partial<Record<ArcName, HeaderField>>>();
  for (const field of own) {
    const instance = readInstance(field);
    if (instance === undefined) return `${field.key} has no valid i=`;
    const set = byInstance.get(instance) ?? {};
    if (isArcName(field.key)) {
      if (set[field.key]) return `set ${instance} has two ${field.key} fields`;
      set[field.key] = field;
    }
    byInstance.set(instance, set);
  }
  const sets: ArcSet[] = [];
  for (let instance = 1; instance <= byInstance.size; instance += 1) {
    const set = byInstance.get(instance);
    if (!set) return `set ${instance} is missing`;
    const missing = NAMES.find((name) => !set[name]);
    if (missing !== undefined) return `set ${instance} has no ${missing}`;
    sets.push({ instance, fields: set as ArcSet["fields"] });
  }
  return sets;
};

const summarize = ({ instance, fields }: ArcSet): ArcSetSummary => {
  const stamp = fields["arc-seal"];
  return {
    instance,
    domain: clip(findTag(stamp, "d")),
    chain: clip(findTag(stamp, "cv")?.toLowerCase()),
  };
};

const SHOWN_MAX = 253;

const clip = (text: string | undefined): string | null => text?.slice(0, SHOWN_MAX) ?? null;

const STAMP_TAGS = ["a", "b", "cv", "d", "s"];
const TIME = /^\d{1,12}$/;

/** Makes the checks of RFC 8617 §5.2 steps 2, 3 B and 3 C, and checks the syntax of each ARC-Seal. */
const findChainFault = (sets: readonly ArcSet[]): string | undefined => {
  for (const { instance, fields } of sets) {
    const { tags, isSound } = readTags(fields["arc-seal"]);
    const valueOf = (name: string) => tags.find((tag) => tag.name === name)?.value;
    const chain = valueOf("cv")?.toLowerCase();
    if (!isSound || STAMP_TAGS.some((name) => valueOf(name) === undefined))
      return `the arc-seal of set ${instance} is malformed`;
    if (valueOf("t") !== undefined && !TIME.test(valueOf("t") ?? ""))
      return `the arc-seal of set ${instance} is malformed`;
    // RFC 8617 §4.1.3: an ARC-Seal names no fields.
    if (valueOf("h") !== undefined) return `the arc-seal of set ${instance} has h=`;
    if (chain !== (instance === 1 ? "none" : "pass"))
      return `set ${instance} has cv=${clip(chain)}`;
  }
  return undefined;
};

const readChain = (
  fields: readonly HeaderField[],
  hashBody: BodyHasher,
  sets: readonly ArcSet[],
): readonly ReadSignature[] | string => {
  const newest = sets.at(-1);
  if (!newest) return [];
  const reading = readSignature(newest.fields["arc-message-signature"], "arc");
  if (reading.kind === "fault") return `the arc-message-signature has a fault: ${reading.fault}`;
  if (reading.signature.names.includes("arc-seal"))
    return "the arc-message-signature covers an arc-seal";
  const signed = readSigned(fields, hashBody, reading.signature);
  return [signed, ...sets.map((_, index) => readStamp(sets.slice(0, index + 1)))];
};

/** Reads the ARC-Seal of the last set, which signs all fields of the sets (RFC 8617 §5.1.1), always relaxed. */
const readStamp = (sets: readonly ArcSet[]): ReadSignature => {
  const lines = sets.flatMap(({ fields }) =>
    NAMES.map((name) => canonicaliseField(fields[name].raw, "relaxed")),
  );
  const stamp = sets.at(-1)?.fields["arc-seal"];
  const valueOf = (name: string) => (stamp && findTag(stamp, name)) ?? "";
  const algorithm = valueOf("a").toLowerCase();
  const isStrong = algorithm === "rsa-sha256" || algorithm === "ed25519-sha256";
  const [domain, selector] = [valueOf("d"), valueOf("s")];
  const text = [...lines.slice(0, -1), emptySignatureTag(lines.at(-1) ?? "")].join("\r\n");
  return {
    domain,
    selector,
    algorithm: isStrong ? algorithm : "rsa-sha1",
    identityDomain: domain,
    signature: removeSpace(valueOf("b")),
    reason: isStrong ? (isKeyName(selector, domain) ? null : "syntax") : "algorithm",
    bytes: Buffer.from(text, "latin1"),
    unsignedBytes: 0,
  };
};
