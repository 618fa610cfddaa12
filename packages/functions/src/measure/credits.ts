import { toCredits } from "@mailproof/core/money/credits";
import { findMovedAmounts } from "@mailproof/core/money/items";
import type { Table } from "@mailproof/core/ports/table";
import { metrics } from "../metrics.ts";

export const countCredits = (table: Table): Table => ({
  ...table,
  transact: async (writes, attempt) => {
    const result = await table.transact(writes, attempt);
    if (result.outcome === "committed")
      for (const [kind, amount] of findMovedAmounts(writes))
        metrics.count("mailproof_credits_moved_total", { kind }, {}, toCredits(amount));
    return result;
  },
});
