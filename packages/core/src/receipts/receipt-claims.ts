import { createHash } from "node:crypto";
import type { AddressText } from "@mailproof/mail/address";
import * as v from "valibot";
import { canonicalise } from "../lib/fingerprint.ts";
import { toEpochSeconds } from "../lib/time.ts";
import { type Halves, toCredits } from "../money/credits.ts";
import { type EntryStep, toMovementId } from "../money/items.ts";
import type { MoveKind } from "../money/moves.ts";
import type { KeyMode, Payer } from "../money/payer.ts";
import type { Json } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { toFormClass } from "../verify/form-class.ts";
import { toPublicEvidence, type Verification } from "../verify/result.ts";
import { CONTROLLED } from "../verify/unpaid-results.ts";
import type { VerifyOptions } from "../verify/verify.ts";

// A receipt states what the service answered about an address. It contains a hash of the address, not the address. A worker that
// opens SMTP sessions stores the claims unsigned, so a mail server that takes over the worker finds no key
// (sign-receipt.ts).

/** Facts that only the request knows. A job that continues the request stores them. */
export const ReceiptOrigin = v.object({
  origin: v.optional(v.string()),
  /** The nonce of a proof of control. A back end must check that its nonce is new: this service does not. */
  nonce: v.optional(v.string()),
});

export type ReceiptOrigin = Readonly<v.InferOutput<typeof ReceiptOrigin>>;

export type ReceiptFacts = ReceiptOrigin & {
  /** The operation's id. */
  readonly id: string;
  /** The account of the request. Other customers' receipts have the same signing keys and can state any origin. */
  readonly account: string;
  readonly at: Date;
  readonly mode: KeyMode;
  /** The address as the client sent it. */
  readonly email: string;
  readonly result: Verification;
  /**
   * Set when a visitor's browser receives the receipt: it shows the class instead of the verdict, and hides what the mail
   * server knows.
   */
  readonly isForVisitor?: true;
  /** The client asked for the evidence, so the receipt contains its hash. */
  readonly includeEvidence: boolean;
  readonly cached: boolean;
  readonly price: Halves;
  /** The ledger entry that shows the payment, or that nothing was paid. Null for test keys. */
  readonly ledgerEntry: string | null;
};

/** Equal facts give equal text. */
export const encodeClaims = (world: Pick<World, "settings">, facts: ReceiptFacts): string =>
  encodeJson(toClaims(world, facts));

export const encodeJson = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

type AskedRequest = {
  readonly email: AddressText;
  readonly options: Pick<VerifyOptions, "includeEvidence">;
  readonly receipt?: ReceiptOrigin | undefined;
};

type Answered = Pick<ReceiptFacts, "id" | "result" | "cached" | "price" | "isForVisitor"> & {
  readonly paidBy: readonly [EntryStep, MoveKind];
};

/** Undefined when the request asked for no receipt. */
export const buildClaims = (
  world: World,
  { account, mode }: Pick<Payer, "account" | "mode">,
  { email, options: { includeEvidence }, receipt }: AskedRequest,
  { paidBy, ...answered }: Answered,
): string | undefined =>
  receipt &&
  encodeClaims(world, {
    ...receipt,
    ...answered,
    account,
    at: world.now(),
    mode,
    email: email.text,
    includeEvidence,
    ledgerEntry: mode === "live" ? toMovementId(answered.id, ...paidBy) : null,
  });

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

/** Uses no secret key, so that a back end can compute the hash from its form's data. */
export const hashEmail = (email: string): string => hashText(email.trim().toLowerCase());

/** Hashes canonical JSON, so that the hash survives a program that reformats the evidence. */
export const hashEvidence = (evidence: Json): string => hashText(canonicalise(evidence));

const hashText = (text: string): string => createHash("sha256").update(text).digest("hex");
