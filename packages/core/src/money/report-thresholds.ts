import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { iterateShardedAccounts, readStableBalance } from "./balance.ts";
import type { Halves } from "./credits.ts";
import { buildReport, emitCrossings } from "./thresholds.ts";

/**
 * Reports what debits of several shards crossed together, where no further debit followed. Only accounts that have
 * several shards are read.
 */
export const reportThresholds = async (world: World): Promise<void> => {
  for await (const account of iterateShardedAccounts(world.table))
    await reportAccount(world, account);
};

const NOTHING = 0 as Halves;

const reportAccount = async (world: World, account: string): Promise<void> => {
  const { balance, isStable } = await readStableBalance(world.table, account);
  // An account that moves during every read is busy, and its next debit reports.
  if (!isStable) return;
  const { crossed, writes } = buildReport(account, balance, NOTHING);
  const [proof, ...events] = emitCrossings(world, account, crossed, balance.available);
  // Refused: a debit reported it meanwhile. A lost reply is looked at again in a minute.
  if (proof) await commit(world, { proof, also: [...events, ...writes] });
};
