import {
  type Faulty,
  findDelegation,
  readKeys,
  readMetadata,
  supports,
  toMetadataUrl,
} from "../control/issuer.ts";
import { fitsAlgorithm } from "../control/keys.ts";
import { type Algorithm, PROFILES } from "../control/profiles.ts";
import type { Dns } from "../dns/dns.ts";
import type { Issue } from "../issue.ts";
import {
  type FetchDocument,
  type FetchedDocument,
  NAME_NOT_FOUND,
  toWords,
} from "./fetched-document.ts";
import { createHint } from "./rules.ts";

type EmailVerificationInput = {
  readonly domain: string;
  readonly fetchDocument?: FetchDocument | undefined;
};

/** Checks whether browsers can prove control of a domain's addresses (draft-hardt-email-verification). Most domains have no issuer. */
export const findEmailVerificationHints = async (
  dns: Dns,
  { domain, fetchDocument }: EmailVerificationInput,
): Promise<readonly Issue[]> => {
  const delegation = await findDelegation(dns, domain);
  if (delegation.kind === "unknown") return [];
  if (delegation.kind === "absent") return [createHint("EMAIL_VERIFICATION_NONE", { domain })];
  const bad = (fault: string) => [createHint("EMAIL_VERIFICATION_BAD", { domain, fault })];
  if (delegation.kind === "faulty") return bad(delegation.fault);
  const { issuer } = delegation;
  const found = fetchDocument ? await checkIssuer(fetchDocument, issuer) : undefined;
  if (found?.kind === "faulty") return bad(found.fault);
  return found
    ? [createHint("EMAIL_VERIFICATION_UNCHECKED", { domain, issuer, why: found.why })]
    : [createHint("EMAIL_VERIFICATION_PRESENT", { domain, issuer })];
};

type Unchecked = { readonly kind: "unchecked"; readonly why: string };

const checkIssuer = async (
  fetchDocument: FetchDocument,
  issuer: string,
): Promise<Faulty | Unchecked | undefined> => {
  const document = readBody(await fetchDocument(toMetadataUrl(issuer)), "document");
  if (document.kind !== "body") return document;
  const metadata = readMetadata(document.body, issuer);
  if (metadata.kind === "faulty")
    return { kind: "faulty", fault: `of the document of ${issuer}, ${metadata.fault}` };
  const algorithms = ALGORITHMS.filter((algorithm) => supports(metadata, algorithm));
  if (algorithms.length === 0)
    return { kind: "faulty", fault: `${issuer} signs by no algorithm of the protocol` };

  const body = readBody(await fetchDocument(metadata.keysUrl), "keys");
  if (body.kind !== "body") return body;
  const keys = readKeys(body.body);
  if (keys.kind === "faulty")
    return { kind: "faulty", fault: `of the keys of ${issuer}, ${keys.fault}` };
  return keys.keys.some((key) => algorithms.some((one) => fitsAlgorithm(one, key)))
    ? undefined
    : { kind: "faulty", fault: `no key of ${issuer} is of an algorithm that it signs by` };
};

const ALGORITHMS: readonly Algorithm[] = [
  ...new Set(PROFILES.flatMap(({ issuerAlgorithms }) => issuerAlgorithms)),
];

/** Statuses that prove the document missing. Any other status may be meant only for this client. */
const GONE = new Set([404, 410]);

const readBody = (
  fetched: FetchedDocument,
  what: string,
): { readonly kind: "body"; readonly body: string } | Faulty | Unchecked => {
  if (fetched.kind === "failed")
    return fetched.why === NAME_NOT_FOUND
      ? { kind: "faulty", fault: `the host of the issuer's ${what} does not exist` }
      : { kind: "unchecked", why: toWords(fetched.why) };
  const { status, body, isComplete } = fetched;
  if (GONE.has(status))
    return { kind: "faulty", fault: `the issuer's ${what} came with status ${status}` };
  if (status !== 200) return { kind: "unchecked", why: `status ${status}` };
  return isComplete ? { kind: "body", body } : { kind: "unchecked", why: "incomplete" };
};
