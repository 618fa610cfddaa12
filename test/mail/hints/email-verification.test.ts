import { findEmailVerificationHints } from "@mailproof/mail/hints/email-verification";
import type { FetchedDocument } from "@mailproof/mail/hints/fetched-document";
import { expect, test } from "vitest";
import { createZoneDns, type Records } from "../../app/zone.ts";

const DOMAIN = "example.com";
const KEYS_URL = "https://issuer.example/keys";
const METADATA = {
  issuance_endpoint: "https://issuer.example/issue",
  jwks_uri: KEYS_URL,
  signing_alg_values_supported: ["EdDSA"],
};
const KEY = { kty: "OKP", crv: "Ed25519", x: "AA" };

const at = (TXT: Records["TXT"]) =>
  createZoneDns({ [`_email-verification.${DOMAIN}`]: { TXT } as Records });

const answer = (document: unknown, more: object = {}): FetchedDocument => ({
  kind: "answer",
  status: 200,
  contentType: "application/json",
  body: JSON.stringify(document),
  isComplete: true,
  ...more,
});
const fail = (why: string): FetchedDocument => ({ kind: "failed", why });

test.each<readonly [what: string, TXT: Records["TXT"], ids: readonly string[]]>([
  ["a host", ["iss=issuer.example"], ["EMAIL_VERIFICATION_PRESENT"]],
  ["an origin", ["iss=https://issuer.example"], ["EMAIL_VERIFICATION_PRESENT"]],
  ["no record", [], ["EMAIL_VERIFICATION_NONE"]],
  ["two records", ["iss=issuer.example", "iss=b.example"], ["EMAIL_VERIFICATION_BAD"]],
  ["another text beside it", ["iss=issuer.example", "hello"], ["EMAIL_VERIFICATION_BAD"]],
  ["no iss=", ["issuer.example"], ["EMAIL_VERIFICATION_BAD"]],
  ["an address", ["iss=192.0.2.1"], ["EMAIL_VERIFICATION_BAD"]],
  ["no answer", "TIMEOUT", []],
])("a delegation in DNS: %s", async (_, TXT, ids) => {
  const hints = await findEmailVerificationHints(at(TXT), { domain: DOMAIN });

  expect(hints.map(({ id }) => id)).toEqual(ids);
  expect(hints.every(({ costPoints }) => costPoints === 0)).toBe(true);
});

const ofMetadata = (metadata: object) => [answer({ ...METADATA, ...metadata })] as const;
const ofKeys = (keys: FetchedDocument) => [answer(METADATA), keys] as const;

test.each<
  readonly [what: string, id: string, documents: readonly [FetchedDocument, FetchedDocument?]]
>([
  ["are right", "PRESENT", ofKeys(answer({ keys: [KEY] }))],
  ["have keys of several kinds", "PRESENT", ofKeys(answer({ keys: [{ kty: "RSA" }, KEY] }))],
  ["cannot be fetched", "UNCHECKED", [fail("timeout")]],
  ["are at a private address", "UNCHECKED", [fail("private_address")]],
  ["are elsewhere", "UNCHECKED", [answer({}, { status: 302 })]],
  ["are at no host", "BAD", [fail("name_not_found")]],
  ["are missing", "BAD", [answer({}, { status: 404 })]],
  ["are a page", "BAD", [answer("<html>")]],
  ["are another issuer's", "BAD", ofMetadata({ issuer: "https://other.example" })],
  ["have keys elsewhere", "BAD", ofMetadata({ jwks_uri: "https://other.example/keys" })],
  ["have issuance elsewhere", "BAD", ofMetadata({ issuance_endpoint: "https://other.example/" })],
  ["have no algorithm", "BAD", ofMetadata({ signing_alg_values_supported: ["RS256"] })],
  ["have keys that cannot be fetched", "UNCHECKED", ofKeys(fail("closed"))],
  ["have keys that are cut", "UNCHECKED", ofKeys(answer({}, { isComplete: false }))],
  ["have keys that are missing", "BAD", ofKeys(answer({}, { status: 410 }))],
  ["have no keys", "BAD", ofKeys(answer({ keys: [] }))],
  ["have no key of the algorithm", "BAD", ofKeys(answer({ keys: [{ ...KEY, crv: "X25519" }] }))],
])("an issuer whose documents %s: %s", async (_, id, [metadata, keys]) => {
  const fetchDocument = async (url: string) =>
    (url === KEYS_URL ? keys : metadata) ?? fail("nobody asks for it");
  const hints = await findEmailVerificationHints(at(["iss=issuer.example"]), {
    domain: DOMAIN,
    fetchDocument,
  });

  expect(hints.map((hint) => hint.id)).toEqual([`EMAIL_VERIFICATION_${id}`]);
});
