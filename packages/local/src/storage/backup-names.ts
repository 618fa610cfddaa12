import { toCopyName } from "./upgrade-copies.ts";

/** Names a backup by its time. `ending`: the extension of a file. */
export const toBackupName = (at: Date, ending = ""): string =>
  `mailproof-${toCopyName(at)}${ending}`;

const NAME = /^mailproof-\d{4}-\d\d-\d\dT[\d-]+Z/;

/** Lists all backups except the newest ones. Files with other names do not belong to Mailproof. */
export const findOld = (names: readonly string[], keep: number, ending = ""): readonly string[] =>
  names
    .filter((name) => name.replace(NAME, "") === ending && NAME.test(name))
    .toSorted()
    .slice(0, -keep);
