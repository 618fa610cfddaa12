import { audit } from "@mailproof/core/background/audit";
import { getBalance, TOTALS, type Total } from "@mailproof/core/money/balance";
import { toCredits } from "@mailproof/core/money/credits";
import { readEntry } from "@mailproof/core/money/items";
import type { Item, Table } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import { expect } from "vitest";

type Ledger = {
  readonly table: Table & { items: () => readonly Item[] };
  readonly account: string;
};

/** What an account owns, in credits. */
export const readCredits = async ({ table, account }: Ledger): Promise<Record<Total, number>> => {
  const balance = await getBalance(table, account);
  return Object.fromEntries(TOTALS.map((total) => [total, toCredits(balance[total])])) as Record<
    Total,
    number
  >;
};

/** What was taken and returned, one word and one number for each entry, in the order of the ledger. */
export const listMoves = ({ table, account }: Ledger): string[] =>
  table
    .items()
    .filter(({ pk }) => pk.startsWith(`LEDGER#${account}#`))
    .toSorted((a, b) => (a.sk < b.sk ? -1 : 1))
    .map(readEntry)
    .filter(({ step }) => step !== "grant")
    .flatMap(({ moved }) =>
      Object.entries(moved).map(([move, amount]) => `${move} ${toCredits(amount)}`),
    );

/** Everything that is stored, but for the counting of requests and the use of keys, which every request moves. */
export const listStoredItems = ({ table }: Pick<Ledger, "table">): Item[] =>
  table
    .items()
    .filter(({ pk }) => !/^(?:RATE|REQUESTS)#/.test(pk))
    .map((item): Item => ({ ...item, lastUsedAt: undefined }))
    .toSorted((a, b) => (`${a.pk} ${a.sk}` < `${b.pk} ${b.sk}` ? -1 : 1));

/** The outbox events that wait to be sent, in the order in which they were emitted. */
export const listOutboxEvents = ({ table }: Pick<Ledger, "table">): unknown[] =>
  table
    .items()
    .filter(({ sk }) => sk === "EVENT")
    .map(({ type }) => type);

/** Every invariant of money holds. */
export const thenConsistent = async ({
  table,
  world,
}: {
  readonly table: Table;
  readonly world: Pick<World, "now">;
}): Promise<void> => expect(await audit(table, world.now())).toMatchObject({ ok: true });
