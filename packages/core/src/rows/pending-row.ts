import { readAddress } from "@mailproof/mail/address-cell";
import type { Halves } from "../money/credits.ts";
import type { Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { buildClaims } from "../receipts/receipt-claims.ts";
import { trimResult } from "../verify/result.ts";
import { createAnswerWrites } from "../verify/result-cache.ts";
import { findFreeReason } from "../verify/unpaid-results.ts";
import type { Job } from "./items.ts";
import type { VerifiedRow } from "./results.ts";

// The row of a pending verification: it contains the claims of its receipt, and later requests find the result in the cache.

type PendingJob = Pick<Job, "id" | "account" | "mode" | "held" | "single">;

/** The parts of the result that the request named, with the claims of its receipt, which readers sign. */
export const toPendingRow = (
  world: World,
  { id, account, mode, held, single }: PendingJob,
  { row, result }: VerifiedRow,
): VerifiedRow => {
  if (!single) return { row, result };
  const isFree = findFreeReason(result) !== null;
  const request = { ...single, email: readAddress(single.email), options: single };
  const receiptClaims = buildClaims(world, { account, mode }, request, {
    id,
    result,
    cached: false,
    price: isFree ? (0 as Halves) : held,
    paidBy: ["end", isFree ? "release" : "settle"],
  });
  return {
    row,
    result: { ...trimResult(result, single), ...(receiptClaims && { receiptClaims }) },
  };
};

export const buildPendingWrites = (
  world: World,
  job: PendingJob,
  rows: readonly VerifiedRow[],
): readonly Write[] => {
  const { single } = job;
  if (!single) return [];
  const query = { ...single, email: readAddress(single.email) };
  return rows.flatMap(({ result }) => createAnswerWrites(world, job, query, result));
};
