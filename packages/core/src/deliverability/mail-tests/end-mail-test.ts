import { move } from "../../money/ledger.ts";
import { PRICES } from "../../money/prices.ts";
import type { Write } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";
import { commit } from "../../runtime/commit.ts";
import { UNSCHEDULED } from "../../runtime/leases.ts";
import { type MailTest, toMailTestKey } from "./items.ts";

/** A test ends without a report when no mail came in time, or when we could not assess it. */
const ENDS = {
  expired: { from: "waiting", reason: "no_mail" },
  failed: { from: "assessing", reason: "failed" },
} as const;

/**
 * Ends a test without a report and refunds it, in one transaction. The table refuses this when a mail came or another process
 * ended the test. The entry's key is the same for every end, so a test is refunded at most once.
 */
export const endMailTest = async (
  world: World,
  test: MailTest,
  status: keyof typeof ENDS,
): Promise<void> => {
  const { id, account, createdAt: openedAt, mode, shard } = test;
  const { from, reason } = ENDS[status];
  const end: Write = {
    update: toMailTestKey(id),
    set: { ...UNSCHEDULED, status },
    where: { status: from },
  };
  const entry = {
    account,
    operation: id,
    openedAt,
    step: "end" as const,
    at: world.now().toISOString(),
    moved: { refund: PRICES.mailTest },
    reason,
    paidFor: "mail_test" as const,
    token: world.newId("txn"),
  };
  const [proof, ...moves] = move(entry, shard);
  const { outcome } = await commit(
    world,
    mode === "live" ? { proof, also: [...moves, end] } : { proof: null, also: [end] },
  );
  if (outcome === "ambiguous") throw new Error("unknown whether the mail test was ended");
};
