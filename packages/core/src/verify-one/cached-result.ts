import type { Address, AddressText } from "@mailproof/mail/address";
import { createAccountHistory } from "../calibration/account-history.ts";
import { Failure } from "../lib/failure.ts";
import type { OperationRequest } from "../money/begin-operation.ts";
import { getOwnerId, type Payer } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import { findProviderDoubts } from "../verify/provider-beliefs.ts";
import type { Verification } from "../verify/result.ts";
import { findCachedResult } from "../verify/result-cache.ts";
import type { VerifyOptions } from "../verify/verify.ts";

type CachedQuery = {
  readonly email: AddressText;
  readonly options: Pick<VerifyOptions, "deepVerify">;
};

/** Results of test keys never change and come from no mail server, so they are not cached. */
export const findCached = async (
  world: VerifyWorld,
  { payer, idempotencyKey }: OperationRequest,
  { email, options: { deepVerify } }: CachedQuery,
): Promise<Verification | undefined> => {
  if (payer.mode !== "live") return undefined;
  const query = { email, deepVerify };
  const result = await findCachedResult(world, getOwnerId(payer), query).catch((cause: unknown) => {
    const what = "Cached results cannot be read right now.";
    // An earlier request with this key may have been charged.
    const money = idempotencyKey ? "retry_same_key" : "nothing_charged";
    throw new Failure("UNAVAILABLE", money, what, { cause });
  });
  if (!result) return undefined;
  const isOutdated = await Promise.all([
    !payer.bounceFree && hasBouncedSince(world, payer, email.address, result),
    isDoubtedSince(world, result),
  ]);
  return isOutdated.some(Boolean) ? undefined : result;
};

/** True when the result skipped the random recipient because of a belief about the provider that has since been refuted. */
const isDoubtedSince = async (
  { engine: { beliefs } }: VerifyWorld,
  { status, evidence }: Verification,
): Promise<boolean> =>
  status === "valid" &&
  evidence?.catchAll === "not_tested" &&
  (await findProviderDoubts(beliefs, evidence.mailHost)).acceptsUnknown;

/** True when the account's mail has bounced since the result was made, so the result is outdated. */
const hasBouncedSince = async (
  world: World,
  payer: Pick<Payer, "account">,
  address: Address | null,
  { evidence }: Verification,
): Promise<boolean> => {
  if (!address) return false;
  const bouncedAt = await createAccountHistory(world, payer).findBounce(address);
  return bouncedAt !== (evidence?.bouncedAt ?? null);
};
