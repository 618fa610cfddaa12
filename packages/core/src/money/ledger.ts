import type { Write } from "../table.ts";
import { balanceKey, type Entry, entryItem, NOTHING, usageKey } from "./items.ts";

export type Movement = Omit<Entry, "kind">;

/** The balance of a new account, and where its first credits came from. */
export const openBalance = (movement: Movement): Write[] => [
  {
    create: {
      ...balanceKey(movement.account),
      ...NOTHING,
      available: movement.amount,
      granted: movement.amount,
    },
  },
  ...recordGrant(movement),
];

/** Gives credits and writes down why. The entry's id is the operation's: the same grant twice collides. */
export const grant = (movement: Movement): Write[] => [
  {
    update: balanceKey(movement.account),
    add: { available: movement.amount, granted: movement.amount },
  },
  ...recordGrant(movement),
];

const recordGrant = (movement: Movement): Write[] => [
  { create: entryItem({ ...movement, kind: "grant" }) },
  {
    update: usageKey(movement.account, movement.at),
    add: { granted: movement.amount },
    orCreate: true,
  },
];
