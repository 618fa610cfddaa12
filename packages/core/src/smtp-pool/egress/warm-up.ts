import * as v from "valibot";
import { DAY_MS } from "../../lib/time.ts";
import { withTimeout } from "../../lib/timeout.ts";
import type { Key } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";

// Layout. When each exit was first used. It never expires: an IP address is new once.
//
//   pk           sk       what
//   EXIT#<name>  WARM_UP  first_used (ms)

/** A new IP address begins with few sessions at each provider (docs/egress.md, Warming up). */
const WARM_UP_SHARES = [
  { fromDay: 0, share: 0.2 },
  { fromDay: 3, share: 0.4 },
  { fromDay: 7, share: 0.6 },
  { fromDay: 14, share: 1 },
] as const;

/** After this time the table counts as down. */
const TABLE_MS = 3_000;
/** After a read that failed. Until one succeeds, the exit counts as new. */
const READ_AGAIN_MS = 60_000;

const FirstUse = v.object({ first_used: v.number() });

export type WarmUp = ReturnType<typeof createWarmUp>;
type WarmUpPorts = Pick<World, "table" | "now" | "sleep"> & {
  /** The exits that are new unless the table shows otherwise. */
  readonly exits: readonly string[];
};

/** The share of each mail provider's limits that an exit has by its age. */
export const createWarmUp = ({ table, now, sleep, exits }: WarmUpPorts) => {
  const firstUsedMs = new Map<string, number>();
  let loading: Promise<unknown> = Promise.resolve();
  let loadedAtMs = Number.NEGATIVE_INFINITY;

  const load = async (exit: string): Promise<void> => {
    const key = toExitKey(exit);
    const set = { first_used: now().getTime() };
    const where = { first_used: { missing: true } } as const;
    const item =
      (await table.get(key)) ??
      (await table.write({ update: key, set, where, orCreate: true }).then(() => table.get(key)));
    firstUsedMs.set(exit, v.parse(FirstUse, item).first_used);
  };

  /** Before the first session. Never rejects. */
  const ready = (): Promise<unknown> => {
    const unknown = exits.filter((exit) => !firstUsedMs.has(exit));
    const atMs = now().getTime();
    if (unknown.length > 0 && Math.abs(atMs - loadedAtMs) >= READ_AGAIN_MS) {
      loadedAtMs = atMs;
      const reads = Promise.allSettled(unknown.map(load));
      loading = withTimeout({ sleep }, TABLE_MS, reads);
    }
    return loading;
  };

  const getShare = (exit: string): number => {
    if (!exits.includes(exit)) return 1;
    const days = (now().getTime() - (firstUsedMs.get(exit) ?? now().getTime())) / DAY_MS;
    return WARM_UP_SHARES.findLast(({ fromDay }) => days >= fromDay)?.share ?? FIRST_SHARE;
  };

  return { ready, getShare };
};

const FIRST_SHARE = WARM_UP_SHARES[0].share;

const toExitKey = (exit: string): Key => ({ pk: `EXIT#${exit}`, sk: "WARM_UP" });
