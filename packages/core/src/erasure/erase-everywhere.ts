import { iterateAccounts } from "../accounts/account-items.ts";
import { createSubject } from "../accounts/subject.ts";
import { forgetOwned } from "../activity/forget.ts";
import { SHARED_POOL } from "../activity/items.ts";
import { KEY_MODES } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import { eraseAddress } from "./erase-address.ts";
import { countErased, type ErasedCounts } from "./items.ts";

export type ErasedEverywhere = {
  /** False when an open job contains the address, or another process erases it. The erasure continues automatically. */
  readonly isComplete: boolean;
  readonly accounts: number;
  readonly openJobs: readonly string[];
  readonly erased: ErasedCounts;
};

export const eraseEverywhere = async (world: World, text: string): Promise<ErasedEverywhere> => {
  const subject = createSubject(text);
  const { address } = subject;
  const shared = address ? await forgetOwned(world, SHARED_POOL, address) : 0;
  let erased = { ...countErased(() => 0), activityRecords: shared };
  let isComplete = true;
  let accounts = 0;
  const openJobs: string[] = [];
  for await (const { account } of iterateAccounts(world.table)) {
    for (const mode of KEY_MODES) {
      const state = await eraseAddress(world, { account, mode }, subject, Number.POSITIVE_INFINITY);
      isComplete &&= state.isComplete;
      openJobs.push(...state.openJobs);
      const before = erased;
      erased = countErased((kind) => before[kind] + state.erased[kind]);
    }
    accounts += 1;
  }
  return { isComplete, accounts, openJobs, erased };
};
