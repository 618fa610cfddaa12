import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type ControlFault, checkControl } from "@mailproof/core/control/check-control";
import { createIssuers } from "@mailproof/core/control/issuers";
import { createDocumentFetcher } from "@mailproof/core/deliverability/document-fetcher";
import { HTTPS_PORT, type HttpsOutcome } from "@mailproof/core/ports/https";
import { readAddress } from "@mailproof/mail/address-cell";
import { createHttpsClient } from "@mailproof/net/https";
import { beforeAll, expect, test } from "vitest";
import { createZoneDns } from "../app/zone.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { findToolAbsence, getToolFolder } from "./tools.ts";

// Goal: of tokens that are each wrong in one way we accept none that another verifier refuses, but for the differences that
// are named here, and refuse none that it accepts.
// Method: PyEVP (PyPI) makes the tokens with its issuer and its browser, and verifies them. Hosts with private addresses
// are met by our own client and its guard.

const OF_EACH_WAY = 31;
const TOKENS_MIN = 2_000;

type Case = {
  readonly way: string;
  readonly token: string;
  readonly nonce: string;
  readonly origin: string;
  readonly email: string;
  readonly at: string;
  readonly dns: Readonly<Record<string, readonly string[]>>;
  readonly documents: Readonly<Record<string, unknown>>;
  readonly addresses: Readonly<Record<string, readonly string[]>>;
  readonly redirects: readonly string[];
  /** PyEVP's verdict: "controlled", or its code. */
  readonly found: string;
};

const makeCases = (): readonly Case[] => {
  const { status, stdout, stderr } = spawnSync(
    join(getToolFolder("pyevp"), "bin/python"),
    [join(import.meta.dirname, "tools/pyevp/run.py"), String(OF_EACH_WAY)],
    { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  if (status !== 0) throw new Error(`It ended with ${status}: ${stderr}`);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Case);
};

const createAnswer = (status: number, document?: unknown): HttpsOutcome => ({
  kind: "answer",
  status,
  contentType: "application/json",
  retryAfter: null,
  body: document === undefined ? "" : JSON.stringify(document),
  isComplete: true,
});

const checkByUs = async (made: Case): Promise<string> => {
  const { token, nonce, origin, documents, addresses, redirects } = made;
  const isIpv6 = (ip: string) => ip.includes(":");
  const dns = createZoneDns({
    ...Object.fromEntries(Object.entries(made.dns).map(([name, TXT]) => [name, { TXT }])),
    ...Object.fromEntries(
      Object.entries(addresses).map(([host, ips]) => [
        host,
        { A: ips.filter((ip) => !isIpv6(ip)), AAAA: ips.filter(isIpv6) },
      ]),
    ),
  });
  const guarded = createHttpsClient({ dns, port: HTTPS_PORT, allowed: [] });
  const call = async (request: Parameters<typeof guarded.call>[0]): Promise<HttpsOutcome> => {
    if (new URL(request.url).hostname in addresses) return guarded.call(request);
    if (redirects.includes(request.url)) return createAnswer(302);
    return request.url in documents ? createAnswer(200, documents[request.url]) : createAnswer(404);
  };
  const now = () => new Date(made.at);
  const issuers = createIssuers({ dns, fetchDocument: createDocumentFetcher({ call }), now });
  const { address } = readAddress(made.email);
  const never = () => new Promise<void>(() => undefined);
  const result = await checkControl(
    { issuers, now, sleep: never },
    { token, nonce, origin, address, mode: "live", waitMs: 10_000 },
  );
  return result.status;
};

/** Our codes for each of theirs. */
const SAME: Readonly<Record<string, readonly ("controlled" | ControlFault)[]>> = {
  controlled: ["controlled"],
  malformed_token: ["malformed", "browser_key_invalid"],
  unsupported_alg: ["algorithm_unsupported", "browser_key_invalid"],
  bad_type: ["type_wrong"],
  audience_mismatch: ["origin_mismatch"],
  nonce_mismatch: ["nonce_mismatch"],
  token_expired: ["expired"],
  token_not_yet_valid: ["not_yet_valid"],
  sd_hash_mismatch: ["hash_mismatch"],
  kb_signature_invalid: ["browser_signature_invalid"],
  email_not_verified: ["email_unverified"],
  email_mismatch: ["address_mismatch"],
  issuer_discovery_failed: ["not_delegated", "delegation_invalid"],
  // Theirs is also for a document that names another issuer.
  issuer_mismatch: ["issuer_mismatch", "issuer_invalid"],
  // Theirs is for whatever does not come. Ours for an answer without the document says so, as a private address does.
  issuer_unreachable: ["issuer_unreachable", "issuer_invalid", "keys_invalid", "issuer_not_public"],
  metadata_invalid: ["issuer_invalid", "keys_invalid"],
  key_not_found: ["key_not_found"],
  evt_signature_invalid: ["signature_invalid"],
};

/** Where the two differ: what they find, what we find, and why. */
const DIFFERENCES: Readonly<Record<string, readonly [their: string, our: string, why: string]>> = {
  "keys outside of the issuer": [
    "controlled",
    "issuer_invalid",
    "The protocol has all of an issuer's hosts within it; they ask only for a public host.",
  ],
  "issuance outside of the issuer": ["controlled", "issuer_invalid", "The same."],
  "a record beside another text": [
    "controlled",
    "delegation_invalid",
    "The protocol has one record at the name; they count only those with iss=.",
  ],
  "document without its issuer": [
    "issuer_mismatch",
    "controlled",
    "The protocol's document has no such field: it came from the host that DNS names.",
  ],
  "a local part that only folding makes the same": [
    "controlled",
    "address_mismatch",
    "straße and STRASSE are two mailboxes: we compare without case, they fold.",
  ],
  "aud as a list": ["audience_mismatch", "malformed", "A code only: the claim has another type."],
  "nonce absent or empty": ["nonce_mismatch", "malformed", "A code only: the claim is missing."],
  "sd_hash of another token": ["sd_hash_mismatch", "malformed", "The same."],
  "email absent": [
    "malformed_token",
    "address_mismatch",
    "A code only: what is no address is another one.",
  ],
  "iss absent or no host": [
    "issuer_mismatch",
    "malformed",
    "A code only: a claim that can name no issuer is seen offline.",
  ],
};

const isSame = ({ found }: Case, ours: string): boolean =>
  (SAME[found] as readonly string[] | undefined)?.includes(ours) === true;

const isNamed = ({ way, found }: Case, ours: string): boolean => {
  const [their, our] = DIFFERENCES[way] ?? [];
  return found === their && ours === our;
};

describeUnless(findToolAbsence("pyevp"), "proofs of control compared with PyEVP", () => {
  let cases: readonly Case[] = [];
  let ours: readonly string[] = [];
  beforeAll(async () => {
    cases = makeCases();
    ours = await Promise.all(cases.map(checkByUs));
  });

  const describeCase = (made: Case, at: number) => `${made.way}: ${made.found}, ${ours[at]}`;

  test(`PyEVP and ours agree on some ${TOKENS_MIN} tokens, except for the listed differences`, () => {
    const strays = cases.flatMap((made, at) =>
      isSame(made, ours[at] ?? "") || isNamed(made, ours[at] ?? "") ? [] : [describeCase(made, at)],
    );

    expect([...new Set(strays)]).toEqual([]);
    expect(cases.length).toBeGreaterThanOrEqual(TOKENS_MIN);
  });

  test("our check refuses every token with a fault", () => {
    const good =
      /^nothing|within the limits$|^kid absent$|^document without its issuer$|^white space/;
    const forged = cases.flatMap((made, at) =>
      ours[at] === "controlled" && !good.test(made.way) ? [describeCase(made, at)] : [],
    );

    expect(forged).toEqual([]);
    expect(ours.filter((status) => status === "controlled").length).toBeGreaterThan(200);
  });

  test("each listed difference from PyEVP occurs", () => {
    const met = new Set(
      cases.filter((made, at) => !isSame(made, ours[at] ?? "")).map(({ way }) => way),
    );

    expect(Object.keys(DIFFERENCES).filter((way) => !met.has(way))).toEqual([]);
  });
});
