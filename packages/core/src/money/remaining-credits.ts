import type { Table } from "../ports/table.ts";
import { getBalance } from "./balance.ts";
import type { Halves } from "./credits.ts";
import type { Payer } from "./payer.ts";
import { TEST_BALANCE } from "./test-mode.ts";

/** Reads the caller's remaining credits. Undefined when they cannot be read: then the response omits them. */
export const findRemainingCredits = async (
  table: Table,
  { account, mode }: Pick<Payer, "account" | "mode">,
): Promise<Halves | undefined> => {
  if (mode === "test") return TEST_BALANCE.available;
  const balance = await getBalance(table, account).catch(() => undefined);
  return balance?.available;
};
