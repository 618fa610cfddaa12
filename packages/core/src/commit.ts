import { fingerprint } from "./fingerprint.ts";
import type { Item, Table, Transacted, Write } from "./table.ts";
import { tellOf } from "./webhooks/messages.ts";
import type { World } from "./world.ts";
import { keyOf } from "./writes.ts";

/** The list is the policy: how often a lost reply is asked after, and at most how long before each time. */
const AFTER_LOST_MS = [30, 200, 800];

export type Writes = readonly [first: Write, ...more: Write[]];

/**
 * A transaction whose reply may be lost is sent again: it was written, or it is written now. When its first write
 * is refused then, an earlier try may have got through: it did if what is there is what we wanted to create. So the
 * first write should create what stays. The outcome is ambiguous only when no try was ever answered.
 *
 * The events among the writes are on their way as soon as they are written.
 */
export const commit = async (
  world: Pick<World, "table" | "random" | "sleep" | "queue">,
  writes: Writes,
): Promise<Transacted> => {
  const result = await written(world, writes);
  if (result.outcome === "committed") await tellOf(world, writes);
  return result;
};

const written = async (
  world: Pick<World, "table" | "random" | "sleep">,
  writes: Writes,
): Promise<Transacted> => {
  const [first] = writes;
  let result = await world.table.transact(writes);
  for (const ms of AFTER_LOST_MS) {
    if (result.outcome !== "ambiguous") return result;
    await world.sleep(world.random() * ms);
    // A door that throws now is sure about this try, and says nothing about the one before.
    result = await world.table.transact(writes).catch(() => AMBIGUOUS);
    if (result.outcome === "refused" && result.by === first)
      return lookedAt(world.table, first, result);
  }
  return result.outcome === "ambiguous" ? lookedAt(world.table, first, result) : result;
};

const COMMITTED = { outcome: "committed" } as const;
const AMBIGUOUS = { outcome: "ambiguous" } as const;

/** Whether it was us after all. What cannot be read is as unknown as before. */
const lookedAt = async (table: Table, write: Write, otherwise: Transacted): Promise<Transacted> => {
  try {
    const found = await table.get(keyOf(write));
    return isOurs(write, found) ? COMMITTED : otherwise;
  } catch {
    return AMBIGUOUS;
  }
};

/** A removal leaves nothing to look at; what it removes has nobody else who would. */
const isOurs = (write: Write, found: Item | undefined): boolean =>
  "create" in write
    ? found !== undefined && fingerprint(found) === fingerprint(write.create)
    : found === undefined;
