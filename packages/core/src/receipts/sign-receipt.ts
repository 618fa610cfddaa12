import { createHash, sign } from "node:crypto";
import { canonicalise } from "../lib/fingerprint.ts";
import { toEpochSeconds } from "../lib/time.ts";
import { type Halves, toCredits } from "../money/credits.ts";
import type { KeyMode } from "../money/payer.ts";
import type { Json } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { toFormClass } from "../verify/form-class.ts";
import { toPublicEvidence, type Verification } from "../verify/result.ts";
import { CONTROLLED } from "../verify/unpaid-results.ts";
import { deriveReceiptKey } from "./receipt-keys.ts";
import type { ReceiptOrigin } from "./receipt-origin.ts";

// A receipt says what the service answered about an address, in a form that anyone can check without asking it: a compact
// JWS (RFC 7515 §7.1) by EdDSA (RFC 8037). The address itself is not in it, only its hash.

export type ReceiptFacts = ReceiptOrigin & {
  /** The operation's id. */
  readonly id: string;
  /** Whose request it was. Other customers have the same keys, and name any origin. */
  readonly account: string;
  /** When it was answered. */
  readonly at: Date;
  readonly mode: KeyMode;
  /** The request's address, as it was sent. */
  readonly email: string;
  /** With its evidence. */
  readonly result: Verification;
  /** A visitor's browser gets it: it has the class in the place of the verdict, and nothing that only the mail server knows. */
  readonly isForVisitor?: true;
  /** Whether the evidence was asked for: then the receipt names its hash. */
  readonly includeEvidence: boolean;
  readonly cached: boolean;
  readonly price: Halves;
  /** The entry of the ledger that shows what was paid, or that nothing was. Null: test keys have none. */
  readonly ledgerEntry: string | null;
};

/** Of the media type application/mailproof-receipt+jwt: no other kind of token passes for a receipt (RFC 8725 §3.11). */
export const RECEIPT_TYPE = "mailproof-receipt+jwt";

/** The same facts give the same text: EdDSA needs no chance. */
export const signReceipt = (world: Pick<World, "settings">, facts: ReceiptFacts): string => {
  const { privateKey, jwk } = deriveReceiptKey(world, facts.at.getUTCFullYear());
  const header = { alg: jwk.alg, typ: RECEIPT_TYPE, kid: jwk.kid };
  const signed = `${encode(header)}.${encode(toClaims(world, facts))}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
};

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const toClaims = (
  { settings: { publicUrl } }: Pick<World, "settings">,
  {
    id,
    account,
    at,
    mode,
    email,
    result,
    includeEvidence,
    cached,
    price,
    ledgerEntry,
    isForVisitor,
    origin,
    nonce,
  }: ReceiptFacts,
) => ({
  ...(publicUrl !== null && { iss: publicUrl }),
  aud: account,
  jti: id,
  iat: toEpochSeconds(at),
  mode,
  email_sha256: hashEmail(email),
  ...(isForVisitor
    ? toFormClass(result)
    : {
        status: result.status,
        reason: result.reason,
        sub_status: result.subStatus,
        quality_score: result.score,
        class: toFormClass(result).class,
      }),
  verified_at: result.verifiedAt,
  cached,
  credits: mode === "test" ? 0 : toCredits(price),
  ledger_entry: ledgerEntry,
  lists: result.evidence?.listsEdition ?? null,
  ...(includeEvidence &&
    result.evidence && {
      evidence_sha256: hashEvidence(toPublicEvidence(result.evidence) as unknown as Json),
    }),
  ...(origin !== undefined && { origin }),
  ...(result.reason === CONTROLLED && { proof: CONTROLLED, nonce }),
});

/** Without a key, so that a back end can compute it from what its form holds. */
export const hashEmail = (email: string): string => hashText(email.trim().toLowerCase());

/** Of its canonical JSON, so that it is the same however a program has written it again. */
export const hashEvidence = (evidence: Json): string => hashText(canonicalise(evidence));

const hashText = (text: string): string => createHash("sha256").update(text).digest("hex");
