import { once } from "node:events";
import { join } from "node:path";
import { HOUR_MS } from "@mailproof/core/lib/time";
import type { Schedule } from "@mailproof/core/runtime/worker";
import { startThread } from "../installation.ts";
import { getMessage } from "./sqlite.ts";
import { REMEDY } from "./state-folder.ts";

// Checks whether the databases can be read: at the start, each hour, and when a read finds damage.

export type StatePart = "table" | "queue";

const STATE_FILES: Readonly<Record<StatePart, { readonly name: string; readonly json: string }>> = {
  table: { name: "state.sqlite", json: "SELECT 1 FROM items WHERE NOT json_valid(item) LIMIT 1" },
  queue: {
    name: "queue.sqlite",
    json: "SELECT 1 FROM messages WHERE NOT json_valid(body) LIMIT 1",
  },
};

export const STATE_PARTS = Object.keys(STATE_FILES) as StatePart[];

/** The request to the worker thread. */
export type CheckRequest = { readonly file: string; readonly json: string };

/** Null when the whole file is readable. Runs in its own thread, so the event loop continues for a file of any size. */
export const findDamage = async (directory: string, part: StatePart): Promise<string | null> => {
  const { name, json } = STATE_FILES[part];
  const request: CheckRequest = { file: join(directory, name), json };
  const worker = startThread(new URL("./state-check-worker.ts", import.meta.url), request);
  // A worker that fails rejects here.
  const [damage] = (await once(worker, "message")) as [string | null];
  return damage;
};

/** The state of both databases as found by the last check, read or write. */
export type StateHealth = {
  readonly damagedParts: () => ReadonlySet<StatePart>;
  /** Called when a read or a write finds damage. */
  readonly report: (part: StatePart, error: unknown) => void;
  /** Checks both files. Throws if one is damaged. */
  readonly assertUndamaged: () => Promise<void>;
  readonly schedule: Schedule;
};

export const createStateHealth = (directory: string): StateHealth => {
  const damaged = new Map<StatePart, string>();
  let checkedAtMs = 0;

  const check = async (part: StatePart): Promise<string | null> => {
    const damage = await findDamage(directory, part).catch(getMessage);
    if (damage === null) damaged.delete(part);
    else damaged.set(part, damage);
    return damage;
  };

  return {
    damagedParts: () => new Set(damaged.keys()),
    report: (part, error) => void damaged.set(part, getMessage(error)),

    assertUndamaged: async () => {
      checkedAtMs = Date.now();
      for (const part of STATE_PARTS) {
        const damage = await check(part);
        if (damage !== null) throw new Error(`${damage}. ${REMEDY}`);
      }
    },

    schedule: {
      name: "check the stored state",
      everySeconds: 60,
      async run({ now, log }) {
        if (damaged.size === 0 && now().getTime() - checkedAtMs < HOUR_MS) return;
        checkedAtMs = now().getTime();
        for (const part of STATE_PARTS) {
          const damage = await check(part);
          if (damage !== null) log("state_damaged", { part, damage });
        }
      },
    },
  };
};
