import type { Dns } from "../../../mail/dns/dns.ts";
import { type BodyHasher, canonicaliseField, emptySignatureTag } from "../dkim/canonicalise.ts";
import { findKey } from "../dkim/public-key.ts";
import { isKeyName, readSignature, readTags, removeSpace } from "../dkim/signature.ts";
import { isSignedBy, verifySignature } from "../dkim/verify.ts";
import { getValue, type HeaderField } from "../parse/fields.ts";

/** RFC 8617 §5.2. `temperror`: a key could not be looked up, so the chain is neither valid nor broken. */
export type ArcResult = {
  readonly result: "none" | "pass" | "fail" | "temperror";
  /** Why the chain is not valid, in a phrase. Null otherwise. */
  readonly reason: string | null;
  /** The sets, the oldest first: who passed the message on, and what each found. */
  readonly sets: readonly ArcSetSummary[];
};

export type ArcSetSummary = {
  readonly instance: number;
  readonly domain: string | null;
  /** cv=: what the one who added the set found of the sets before. */
  readonly chain: string | null;
};

const NAMES = ["arc-authentication-results", "arc-message-signature", "arc-seal"] as const;

type ArcName = (typeof NAMES)[number];
type ArcSet = {
  readonly instance: number;
  readonly fields: Readonly<Record<ArcName, HeaderField>>;
};

/** RFC 8617 §4.2.1. */
const SETS_MAX = 50;

/** Verifies the chain of those that passed the message on (RFC 8617 §5.2). */
export const verifyArc = async (
  dns: Dns,
  fields: readonly HeaderField[],
  hashBody: BodyHasher,
): Promise<ArcResult> => {
  const own = fields.filter(({ key }) => isArcName(key));
  if (own.length === 0) return { result: "none", reason: null, sets: [] };
  const found = groupSets(own);
  if (typeof found === "string") return { result: "fail", reason: found, sets: [] };
  const sets = found.map(summarise);
  const fault = findChainFault(found);
  if (fault !== undefined) return { result: "fail", reason: fault, sets };
  const reason = await verifyChain(dns, fields, hashBody, found);
  if (reason === null) return { result: "pass", reason, sets };
  return { result: reason === "dns" ? "temperror" : "fail", reason, sets };
};

const isArcName = (key: string): key is ArcName => NAMES.some((name) => name === key);

const INSTANCE = /^\d{1,2}$/;
/** §4.1.1: the number comes first in the results. */
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

/** §5.2 step 3 A: numbers from 1 on, each with its three fields once. Or why not. */
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

const summarise = ({ instance, fields }: ArcSet): ArcSetSummary => {
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

/** §5.2 steps 2 and 3 B and C, and the syntax of each ARC-Seal. */
const findChainFault = (sets: readonly ArcSet[]): string | undefined => {
  for (const { instance, fields } of sets) {
    const { tags, isSound } = readTags(fields["arc-seal"]);
    const valueOf = (name: string) => tags.find((tag) => tag.name === name)?.value;
    const chain = valueOf("cv")?.toLowerCase();
    if (!isSound || STAMP_TAGS.some((name) => valueOf(name) === undefined))
      return `the arc-seal of set ${instance} is malformed`;
    if (valueOf("t") !== undefined && !TIME.test(valueOf("t") ?? ""))
      return `the arc-seal of set ${instance} is malformed`;
    // §4.1.3: an ARC-Seal names no fields.
    if (valueOf("h") !== undefined) return `the arc-seal of set ${instance} has h=`;
    if (chain !== (instance === 1 ? "none" : "pass"))
      return `set ${instance} has cv=${clip(chain)}`;
  }
  return undefined;
};

/** §5.2 steps 4 and 6. Null: valid. "dns": a key could not be looked up. */
const verifyChain = async (
  dns: Dns,
  fields: readonly HeaderField[],
  hashBody: BodyHasher,
  sets: readonly ArcSet[],
): Promise<string | null> => {
  const newest = sets.at(-1);
  if (!newest) return null;
  const reading = readSignature(newest.fields["arc-message-signature"], "arc");
  if (reading.kind === "fault") return `the arc-message-signature has a fault: ${reading.fault}`;
  if (reading.signature.names.includes("arc-seal"))
    return "the arc-message-signature covers an arc-seal";
  const [signed, ...stamps] = await Promise.all([
    verifySignature(dns, fields, hashBody, reading.signature),
    ...sets.map((_, index) => verifyStamp(dns, sets.slice(0, index + 1))),
  ]);
  const isOpen = signed.reason === "dns" || stamps.includes("dns");
  if (signed.reason !== null && signed.reason !== "dns")
    return `the newest arc-message-signature is not valid: ${signed.reason}`;
  const broken = stamps.findIndex((reason) => reason !== null && reason !== "dns");
  if (broken >= 0) return `the arc-seal of set ${broken + 1} is not valid: ${stamps[broken]}`;
  return isOpen ? "dns" : null;
};

/** The last of these sets signs all fields of the sets (§5.1.1), always relaxed. Null: valid. */
const verifyStamp = async (dns: Dns, sets: readonly ArcSet[]): Promise<string | null> => {
  const lines = sets.flatMap(({ fields }) =>
    NAMES.map((name) => canonicaliseField(fields[name].raw, "relaxed")),
  );
  const stamp = sets.at(-1)?.fields["arc-seal"];
  if (!stamp) return "missing";
  const valueOf = (name: string) => findTag(stamp, name) ?? "";
  const algorithm = valueOf("a").toLowerCase();
  if (algorithm !== "rsa-sha256" && algorithm !== "ed25519-sha256") return "algorithm";
  const [domain, selector] = [valueOf("d"), valueOf("s")];
  if (!isKeyName(selector, domain)) return "syntax";
  const found = await findKey(dns, { domain, selector, algorithm });
  if (found.kind === "fault") return found.fault;
  const text = [...lines.slice(0, -1), emptySignatureTag(lines.at(-1) ?? "")].join("\r\n");
  const signature = removeSpace(valueOf("b"));
  return isSignedBy(found, { algorithm, signature }, Buffer.from(text, "latin1"))
    ? null
    : "signature";
};
