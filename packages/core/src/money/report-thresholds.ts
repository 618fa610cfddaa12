import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { iterateShardedAccounts, readStableBalance } from "./balance.ts";
import type { Halves } from "./credits.ts";
import { buildReport, emitCrossings } from "./thresholds.ts";

/**
 * Reports the thresholds that debits of several shards crossed together without a further debit. Reads only accounts with
 * several shards.
 */
export const reportThresholds = async (world: World): Promise<void> => {
  for await (const account of iterateShardedAccounts(world.table))
    await reportAccount(world, account);
};

const NOTHING = 0 as Halves;

const reportAccount = async (world: World, account: string): Promise<void> => {
  const { balance, isStable } = await readStableBalance(world.table, account);
  // A balance that changes during every read is busy, and the account's next debit reports.
  if (!isStable) return;
  const { crossed, writes } = buildReport(account, balance, NOTHING);
  const [proof, ...events] = emitCrossings(world, account, crossed, balance.available);
  // "refused": a debit reported the crossing meanwhile. After a lost reply the next run looks again, a minute later.
  if (proof) await commit(world, { proof, also: [...events, ...writes] });
};
