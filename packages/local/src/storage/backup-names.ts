import { toCopyName } from "./upgrade-copies.ts";

/** The name of a backup that one of several is to be told by. `ending`: of a file. */
export const toBackupName = (at: Date, ending = ""): string =>
  `mailproof-${toCopyName(at)}${ending}`;

const NAME = /^mailproof-\d{4}-\d\d-\d\dT[\d-]+Z/;

/** The names of all backups but the newest. What has another name is not ours. */
export const findOld = (names: readonly string[], keep: number, ending = ""): readonly string[] =>
  names
    .filter((name) => name.replace(NAME, "") === ending && NAME.test(name))
    .toSorted()
    .slice(0, -keep);
