import { crc32 } from "node:zlib";
import { type Address } from "@mailproof/mail/address";
import { readAddress } from "@mailproof/mail/address-cell";
import { hashAddress } from "../accounts/hashes.ts";
import { type GivenVerdict, storeVerdict } from "../calibration/items.ts";
import type { Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { Verification } from "./result.ts";

/** One in ten rows of a list is stored: enough for every share, with a tenth of the writes. */
const SAMPLE = 10;

type CalibrationWorld = Pick<World, "now" | "settings" | "table">;

/** Builds the write that stores a live verdict, so that later bounces can be compared with it. Empty for an undecided result. */
export const createVerdictWrites = (
  world: CalibrationWorld,
  account: string,
  address: Address | null,
  result: Verification,
  elsewhere?: GivenVerdict["elsewhere"],
): Write[] => {
  if (!address || result.status === "unknown") return [];
  const { status, score, provider, verifiedAt, flags } = result;
  const verdict = {
    status,
    score,
    provider: provider ?? NO_MAIL_HOST,
    // For a free provider's domain, the provider's own counts are better evidence than one account's mail.
    mayBeCatchAll: !flags.freeProvider && mayBeCatchAll(result),
    at: verifiedAt,
    ...(elsewhere && { elsewhere }),
  };
  const hash = hashAddress(world, account, address.canonical);
  return [storeVerdict(hash, verdict, world.now())];
};

/** True for a proven catch-all, or when the server accepted this address and no refusal of another is known. */
const mayBeCatchAll = ({ verification, ai }: Verification): boolean => {
  const confidence = ai?.catchAllConfidence ?? 0;
  const isEstimate = confidence > 0 && confidence < 1;
  return verification.catchAll || (verification.smtpCheck && isEstimate);
};

const NO_MAIL_HOST = "none";

const WRITES_MAX = 100;

type JudgedRow = { readonly result: Verification; readonly elsewhere: GivenVerdict["elsewhere"] };

/** Stores a sample of a list's verdicts, and each that another service's verdict is compared with. Ignores a failure: a smaller sample is still a sample. */
export const storeVerdictSample = async (
  world: CalibrationWorld,
  account: string,
  rows: readonly JudgedRow[],
): Promise<void> => {
  const writes = rows.flatMap(({ result, elsewhere }) =>
    elsewhere || isSampled(result.email)
      ? createVerdictWrites(world, account, readAddress(result.email).address, result, elsewhere)
      : [],
  );
  for (let at = 0; at < writes.length; at += WRITES_MAX)
    await world.table.transact(writes.slice(at, at + WRITES_MAX)).catch(() => undefined);
};

/**
 * Samples by the address, so that a list that is verified again gives the same rows, and not by its keyed hash: the hashes of a
 * chunk would block the event loop for 8 ms.
 */
const isSampled = (email: string): boolean => crc32(email) % SAMPLE === 0;
