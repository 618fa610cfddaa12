import type { Address } from "@mailproof/mail/address";
import {
  findDelegation,
  type IssuerKeys,
  readKeys,
  readMetadata,
  supports,
  toMetadataUrl,
} from "@mailproof/mail/control/issuer";
import { fitsAlgorithm, isSignedBy } from "@mailproof/mail/control/keys";
import { type Presentation, readToken, type TokenFault } from "@mailproof/mail/control/token";
import { type FetchedDocument, getDocumentState } from "@mailproof/mail/hints/fetched-document";
import { withTimeout } from "../lib/timeout.ts";
import type { KeyMode } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import type { Issuers, WithIssuers } from "./issuers.ts";

/** The token from a visitor's browser, with the nonce and the origin of the form. */
export type ControlProof = {
  readonly token: string;
  readonly nonce: string;
  readonly origin: string;
};

type ControlQuestion = ControlProof & {
  readonly address: Address | null;
  readonly mode: KeyMode;
  readonly waitMs: number;
};

/** The reason that control is not proven. No fault says anything about the address. */
export type ControlFault =
  | TokenFault
  | "not_delegated"
  | "delegation_invalid"
  | "issuer_mismatch"
  | "issuer_invalid"
  | "issuer_not_public"
  | "keys_invalid"
  | "key_not_found"
  | "signature_invalid"
  | "browser_signature_invalid"
  /** A name server or the issuer did not answer, so control is unknown. */
  | "dns_failed"
  | "issuer_unreachable";

export type ControlResult =
  | { readonly status: "controlled"; readonly issuer: string; readonly profile: string }
  | { readonly status: ControlFault };

/** The stored and returned result. `status` is any string, because a release also reads the codes of a newer release. */
export type ControlAnswer = {
  readonly status: string;
  readonly issuer?: string;
  readonly profile?: string;
};

type ControlWorld = Pick<World, "now" | "sleep"> & WithIssuers;

/** Limits DNS and both documents of an issuer together, because the ordinary verification still follows. */
const WAIT_MS_MAX = 5_000;

/**
 * Checks whether the visitor proved control of the address. It refuses offline where possible, before any query or call. It
 * calls only hosts that the domain's DNS delegates to, never a host that only the token names.
 */
export const checkControl = async (
  world: ControlWorld,
  question: ControlQuestion,
): Promise<ControlResult> => {
  if (question.mode === "test") return answerTestToken(question.token);
  const presentation = readToken(question, world.now());
  if (typeof presentation === "string") return { status: presentation };
  const issuers = limitTime(world, Math.min(question.waitMs, WAIT_MS_MAX));
  const fault = await findIssuerFault(issuers, presentation);
  const { issuer, profile } = presentation;
  return fault ? { status: fault } : { status: "controlled", issuer, profile };
};

/** This token proves control under a test key, without any query. Every other token is malformed. */
export const TEST_TOKEN = "test-controlled";

const answerTestToken = (token: string): ControlResult =>
  token === TEST_TOKEN
    ? { status: "controlled", issuer: "issuer.sandbox.test", profile: "sandbox" }
    : { status: "malformed" };

/** One time limit for all queries and fetches together. Signatures need no limit: there are at most 33. */
const limitTime = (world: ControlWorld, waitMs: number): Issuers => {
  const { dns, fetchDocument } = world.issuers;
  const endsAtMs = world.now().getTime() + waitMs;
  const limit = async <T, L>(work: Promise<T>, late: L): Promise<T | L> => {
    const result = await withTimeout(world, Math.max(0, endsAtMs - world.now().getTime()), work);
    return result === "late" ? late : result;
  };
  return {
    dns: (type, name) => limit(dns(type, name), { kind: "timeout" }),
    fetchDocument: (url, ageMsMax) =>
      limit(fetchDocument(url, ageMsMax), { kind: "failed", why: "timeout" }),
  };
};

const findIssuerFault = async (
  issuers: Issuers,
  presentation: Presentation,
): Promise<ControlFault | undefined> => {
  const { issuer, domain, issued, bound } = presentation;
  const delegation = await findDelegation(issuers.dns, domain);
  if (delegation.kind !== "delegated") return FAULT_OF_DELEGATION[delegation.kind];
  if (delegation.issuer !== issuer) return "issuer_mismatch";

  const document = readBody(await issuers.fetchDocument(toMetadataUrl(issuer)), "issuer_invalid");
  if (typeof document === "string") return document;
  const metadata = readMetadata(document.body, issuer);
  if (metadata.kind === "faulty") return "issuer_invalid";
  if (!supports(metadata, issued.algorithm)) return "algorithm_unsupported";

  const fault = await findSignatureFault(issuers, metadata.keysUrl, issued);
  if (fault) return fault;
  return (await isSignedBy(bound.text, bound.algorithm, bound.key))
    ? undefined
    : "browser_signature_invalid";
};

const FAULT_OF_DELEGATION = {
  absent: "not_delegated",
  faulty: "delegation_invalid",
  unknown: "dns_failed",
} as const;

const readBody = (
  fetched: FetchedDocument,
  missing: ControlFault,
): { readonly body: string } | ControlFault => {
  const state = getDocumentState(fetched);
  if (state === "whole" && fetched.kind === "answer") return fetched;
  if (state === "not_public") return "issuer_not_public";
  return state === "unknown" ? "issuer_unreachable" : missing;
};

/** A key that is missing from the cached set may be new. The set is fetched again at most once a minute. */
const REFETCH_MS = 60_000;

const findSignatureFault = async (
  { fetchDocument }: Issuers,
  url: string,
  issued: Presentation["issued"],
): Promise<ControlFault | undefined> => {
  const check = async (fetched: FetchedDocument): Promise<ControlFault | undefined> => {
    const document = readBody(fetched, "keys_invalid");
    if (typeof document === "string") return document;
    const keys = readKeys(document.body);
    return keys.kind === "faulty" ? "keys_invalid" : tryKeys(keys, issued);
  };
  const cached = await fetchDocument(url);
  const fault = await check(cached);
  if (fault !== "key_not_found" && fault !== "signature_invalid") return fault;
  const fresh = await fetchDocument(url, REFETCH_MS);
  return fresh === cached ? fault : check(fresh);
};

const KEYS_MAX = 16;

const tryKeys = async (
  { keys }: IssuerKeys,
  { text, algorithm, keyId }: Presentation["issued"],
): Promise<ControlFault | undefined> => {
  const fitting = keys.filter(
    (key) => (keyId === null || key.kid === keyId) && fitsAlgorithm(algorithm, key),
  );
  if (fitting.length === 0) return "key_not_found";
  for (const key of fitting.slice(0, KEYS_MAX))
    if (await isSignedBy(text, algorithm, key)) return undefined;
  return "signature_invalid";
};
