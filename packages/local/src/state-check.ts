import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Schedule } from "@mailproof/core/worker";
import { messageOf } from "./sqlite.ts";
import { REMEDY } from "./state-folder.ts";

// Whether the databases can still be read: looked through at the start, each hour, and when a read found damage.

export type Part = "table" | "queue";

const FILES: Readonly<Record<Part, { readonly name: string; readonly json: string }>> = {
  table: { name: "state.sqlite", json: "SELECT 1 FROM items WHERE NOT json_valid(item) LIMIT 1" },
  queue: {
    name: "queue.sqlite",
    json: "SELECT 1 FROM messages WHERE NOT json_valid(body) LIMIT 1",
  },
};

export const PARTS = Object.keys(FILES) as Part[];

/** What is asked of the worker thread. */
export type CheckRequest = { readonly file: string; readonly json: string };

/** Null: all of it can be read. In a thread of its own: the event loop goes on, however large the file is. */
export const findDamage = async (directory: string, part: Part): Promise<string | null> => {
  const { name, json } = FILES[part];
  const request: CheckRequest = { file: join(directory, name), json };
  const worker = new Worker(new URL("./state-check-worker.ts", import.meta.url), {
    workerData: request,
  });
  // A worker that fails rejects here.
  const [found] = (await once(worker, "message")) as [string | null];
  return found;
};

/** What is damaged, by what was found last. */
export type StateHealth = {
  readonly damagedParts: () => ReadonlySet<Part>;
  /** A read or a write found it. */
  readonly report: (part: Part, error: unknown) => void;
  /** Looks through both files. Throws where one is damaged. */
  readonly assertSound: () => Promise<void>;
  readonly schedule: Schedule;
};

const HOUR_MS = 3_600_000;

export const stateHealth = (directory: string): StateHealth => {
  const damaged = new Map<Part, string>();
  let checkedAtMs = 0;

  const check = async (part: Part): Promise<string | null> => {
    const found = await findDamage(directory, part).catch(messageOf);
    if (found === null) damaged.delete(part);
    else damaged.set(part, found);
    return found;
  };

  return {
    damagedParts: () => new Set(damaged.keys()),
    report: (part, error) => void damaged.set(part, messageOf(error)),

    assertSound: async () => {
      checkedAtMs = Date.now();
      for (const part of PARTS) {
        const found = await check(part);
        if (found !== null) throw new Error(`${found}. ${REMEDY}`);
      }
    },

    schedule: {
      name: "check the stored state",
      everySeconds: 60,
      async run({ now, log }) {
        if (damaged.size === 0 && now().getTime() - checkedAtMs < HOUR_MS) return;
        checkedAtMs = now().getTime();
        for (const part of PARTS) {
          const found = await check(part);
          if (found !== null) log("state_damaged", { part, found });
        }
      },
    },
  };
};
