import { existsSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { DAY_MS } from "@mailproof/core/lib/time";
import type { Schedule } from "@mailproof/core/runtime/worker";

// An upgrade changes the databases in place, so it first copies them into a folder that is named by the time.

/** A folder inside the state's folder. */
export const COPIES = "before-upgrade";

/** Copies may contain data that accounts have deleted since, so few copies are kept, and none for long. */
const COPIES_MAX = 3;
const COPY_DAYS = 30;

const UNFINISHED = ".unfinished";
const NAME = /^(\d{4}-\d\d-\d\d)T[\d-]+Z(?:\.unfinished)?$/;

export const toCopyName = (at: Date): string => at.toISOString().replaceAll(/[:.]/g, "-");

export const toDraftName = (name: string): string => name + UNFINISHED;

/** Lists the copies, oldest first. A folder with another name belongs to the operator. */
const listNames = (directory: string): readonly string[] => {
  const folder = join(directory, COPIES);
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => NAME.test(name))
        .toSorted()
    : [];
};

const isFinished = (name: string): boolean => !name.endsWith(UNFINISHED);

const isOld = (name: string, now: Date): boolean =>
  now.getTime() - Date.parse(NAME.exec(name)?.[1] ?? "") > COPY_DAYS * DAY_MS;

/** `inUse`: the copy of an unfinished upgrade. */
export const removeOldCopies = (directory: string, now: Date, inUse?: string): void => {
  const names = listNames(directory);
  const newest = names.filter(isFinished).slice(-COPIES_MAX);
  for (const name of names)
    if (name !== inUse && (!newest.includes(name) || isOld(name, now)))
      rmSync(join(directory, COPIES, name), { recursive: true, force: true });
};

export const createCopySweeper = (directory: string): Schedule => ({
  name: "remove old copies of the state",
  everySeconds: 3_600,
  run: async ({ now }) => removeOldCopies(directory, now()),
});

/** Describes how an operator returns to the former release, as the end of a sentence. */
export const describeWayBack = (directory: string): string => {
  const copy = listNames(directory).findLast(isFinished);
  if (copy === undefined)
    return "stop the server, replace the whole folder by a copy of a backup that the older release made, and start that release.";
  const folder = resolve(directory);
  return `stop the server, delete ${join(folder, "*.sqlite*")}, and copy the files of ${join(folder, COPIES, copy)} to ${folder} before the older release starts.`;
};
