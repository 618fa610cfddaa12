import { domainToASCII } from "node:url";
import { type ListTag, listRepeated, parseTagList } from "../../tag-list.ts";
import { getValue, type HeaderField } from "../parse/fields.ts";
import { CANONICALISATIONS, type Canonicalisation } from "./canonicalise.ts";

export type SignatureAlgorithm = "rsa-sha256" | "ed25519-sha256" | "rsa-sha1";

export type MessageSignature = {
  readonly field: HeaderField;
  readonly algorithm: SignatureAlgorithm;
  readonly headerWay: Canonicalisation;
  readonly bodyWay: Canonicalisation;
  readonly domain: string;
  readonly selector: string;
  readonly names: readonly string[];
  readonly bodyHash: string;
  readonly signature: string;
  /** l=: the number of signed octets of the body. Null when the whole body is signed. */
  readonly bodyLimit: number | null;
  readonly signedAt: number | null;
  readonly expiresAt: number | null;
  readonly identityDomain: string;
};

export type SignatureFault =
  | "syntax"
  | "missing_tag"
  | "version"
  | "algorithm"
  | "canonicalisation"
  | "from_not_signed"
  | "query_method"
  | "identity_domain"
  | "expiration";

export type SignatureReading =
  | { readonly kind: "signature"; readonly signature: MessageSignature }
  | {
      readonly kind: "fault";
      readonly fault: SignatureFault;
      readonly domain: string | null;
      readonly selector: string | null;
    };

const LABEL = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;
const NAME_LENGTH_MAX = 253;

const isSelector = (name: string): boolean =>
  name.length <= NAME_LENGTH_MAX && name.split(".").every((label) => LABEL.test(label));

const isSigningDomain = (name: string): boolean => isSelector(name) && name.includes(".");

export const isKeyName = (selector: string, domain: string): boolean =>
  isSelector(selector) && isSigningDomain(domain);

const TIME = /^\d{1,12}$/;
const LENGTH = /^\d{1,76}$/;
const ALGORITHMS: readonly string[] = ["rsa-sha256", "ed25519-sha256", "rsa-sha1"];

const DKIM_TAGS = ["v", "a", "b", "bh", "d", "h", "s"];
/** RFC 8617 §4.1.2: the tags of a DKIM signature without v=, and with i= as the number of the set. */
const ARC_TAGS = DKIM_TAGS.filter((name) => name !== "v");

/** Reads a signature field (RFC 6376 §3.5), with the checks of §6.1.1. */
export const readSignature = (field: HeaderField, kind: "dkim" | "arc"): SignatureReading => {
  const { tags, isSound } = readTags(field);
  const valueOf = (name: string) => tags.find((tag) => tag.name === name)?.value;
  const domain = toALabels(valueOf("d") ?? "");
  const selector = toALabels(valueOf("s") ?? "");
  const fail = (fault: SignatureFault): SignatureReading => ({
    kind: "fault",
    fault,
    domain: isSigningDomain(domain) ? domain : null,
    selector: isSelector(selector) ? selector : null,
  });
  if (!isSound) return fail("syntax");
  if ((kind === "dkim" ? DKIM_TAGS : ARC_TAGS).some((name) => valueOf(name) === undefined))
    return fail("missing_tag");
  if (kind === "dkim" && valueOf("v") !== "1") return fail("version");

  const algorithm = (valueOf("a") ?? "").toLowerCase();
  if (!isAlgorithm(algorithm)) return fail("algorithm");
  const [headerWay = "", bodyWay = "simple", ...others] = (valueOf("c") ?? "simple")
    .toLowerCase()
    .split("/")
    .map((way) => way.trim());
  if (!isWay(headerWay) || !isWay(bodyWay) || others.length > 0) return fail("canonicalisation");

  const [t, x, l] = ["t", "x", "l"].map(valueOf);
  if ([t, x].some((time) => time !== undefined && !TIME.test(time))) return fail("syntax");
  if (l !== undefined && !LENGTH.test(l)) return fail("syntax");
  if (!isKeyName(selector, domain)) return fail("syntax");
  const names = readNames(valueOf("h") ?? "");
  if (names.length === 0) return fail("syntax");
  if (!names.includes("from")) return fail("from_not_signed");
  const methods = (valueOf("q") ?? "dns/txt").toLowerCase().split(":");
  if (kind === "dkim" && !methods.some((method) => method.trim() === "dns/txt"))
    return fail("query_method");

  const identity = kind === "dkim" ? valueOf("i") : undefined;
  const identityDomain = identity === undefined ? domain : readIdentityDomain(identity);
  if (identityDomain === undefined) return fail("syntax");
  if (identityDomain !== domain && !identityDomain.endsWith(`.${domain}`))
    return fail("identity_domain");
  const [signedAt, expiresAt] = [toNumber(t), toNumber(x)];
  if (signedAt !== null && expiresAt !== null && expiresAt <= signedAt) return fail("expiration");

  const signature: MessageSignature = {
    field,
    algorithm,
    headerWay,
    bodyWay,
    domain,
    selector,
    names,
    bodyHash: removeSpace(valueOf("bh") ?? ""),
    signature: removeSpace(valueOf("b") ?? ""),
    bodyLimit: toNumber(l),
    signedAt,
    expiresAt,
    identityDomain,
  };
  return { kind: "signature", signature };
};

/** RFC 6376 §3.2: a part without "=", an empty part before the end and a repeated name each break the whole list. */
export const readTags = (
  field: HeaderField,
): { readonly tags: readonly ListTag[]; readonly isSound: boolean } => {
  const value = getValue(field);
  const { tags, strays } = parseTagList(value);
  const parts = value.split(";");
  const hasEmpty = parts.slice(0, -1).some((part) => part.trim() === "");
  const isRepeated = listRepeated(tags.map(({ name }) => name)).length > 0;
  return { tags, isSound: strays.length === 0 && !hasEmpty && !isRepeated && tags.length > 0 };
};

const isAlgorithm = (text: string): text is SignatureAlgorithm => ALGORITHMS.includes(text);

const isWay = (text: string): text is Canonicalisation =>
  CANONICALISATIONS.some((way) => way === text);

const toNumber = (text: string | undefined): number | null =>
  text === undefined ? null : Number(text);

/** RFC 6376 §3.2: white space within base64 does not count. */
export const removeSpace = (text: string): string => text.replaceAll(/[\t\r\n ]+/g, "");

const readNames = (text: string): readonly string[] =>
  text
    .split(":")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");

/** RFC 8616: names may have U-labels, in UTF-8. */
const toALabels = (name: string): string => {
  const isAscii = !/[\u0080-\u00ff]/.test(name);
  return (
    isAscii ? name : domainToASCII(Buffer.from(name, "latin1").toString("utf8"))
  ).toLowerCase();
};

const LOCAL_PART =
  /^(?:[\w!#$%&'*+\-/=?^`{|}~\u0080-\u00ff]+(?:\.[\w!#$%&'*+\-/=?^`{|}~\u0080-\u00ff]+)*|"(?:[^"\\]|\\.)*")?$/;

/** The tag i= is in quoted-printable (RFC 6376 §2.11). Undefined when it is not an address. */
const readIdentityDomain = (text: string): string | undefined => {
  const identity = removeSpace(text).replaceAll(/=([\dA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const at = identity.lastIndexOf("@");
  const domain = toALabels(identity.slice(at + 1));
  return at >= 0 && LOCAL_PART.test(identity.slice(0, at)) && isSigningDomain(domain)
    ? domain
    : undefined;
};
