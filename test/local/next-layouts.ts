import { type FolderLayouts, QUEUE_LAYOUT, TABLE_LAYOUT } from "@mailproof/local/storage/schema";
import type { MigrationStep } from "@mailproof/local/storage/sqlite";

// A release that does not exist: its state has one version more, in both files. Each row carries how often it was migrated.

type Stop = { readonly file: string | undefined; readonly stop: () => void };

const COUNT = {
  "state.sqlite": `UPDATE items SET item = json_set(item, '$.migrated', 1 + COALESCE(item ->> '$.migrated', 0))`,
  "queue.sqlite": `UPDATE messages SET receives = receives + 1000`,
};

export const createNextLayouts = ({ file: stopsIn, stop }: Partial<Stop> = {}): FolderLayouts => {
  const createStep =
    (file: keyof typeof COUNT): MigrationStep =>
    (db) => {
      db.exec(`${COUNT[file]} WHERE rowid % 2 = 0`);
      if (file === stopsIn) stop?.();
      db.exec(`${COUNT[file]} WHERE rowid % 2 = 1`);
    };
  const stateStep = createStep("state.sqlite");
  const queueStep = createStep("queue.sqlite");
  return {
    "state.sqlite": { ...TABLE_LAYOUT, version: TABLE_LAYOUT.version + 1, steps: [stateStep] },
    "queue.sqlite": {
      ...QUEUE_LAYOUT,
      version: QUEUE_LAYOUT.version + 1,
      steps: [queueStep],
    },
  };
};
