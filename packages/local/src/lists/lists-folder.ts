import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { parseListChanges } from "@mailproof/mail/lists/changes";
import { compareVersions } from "@mailproof/mail/lists/edition-age";
import {
  assertEditionBytes,
  assertReplaces,
  type Edition,
  EditionFault,
  readEdition,
} from "@mailproof/mail/lists/edition-file";
import { LISTS_PUBLIC_KEY } from "@mailproof/mail/lists/public-key";
import { formatShippedEdition } from "@mailproof/mail/lists/shipped-edition";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import type { Environment } from "../environment.ts";
import { flushToDisk } from "../storage/atomic-file.ts";

// Below the state folder: lists/current.txt is the installed edition and lists/former.txt the one before it. Each is whole or
// absent: a file gets its name when it is on the disk.

type Folder = Pick<Environment, "MAILPROOF_DIR" | "LISTS_SIGNER">;

const getFile = ({ MAILPROOF_DIR }: Folder, name: "current" | "former" | "draft"): string =>
  join(MAILPROOF_DIR, "lists", `${name}.txt`);

export const getCurrentFile = (folder: Folder): string => getFile(folder, "current");

const pause = (): Promise<void> => setImmediate();

const getKey = ({ LISTS_SIGNER }: Folder): string => LISTS_SIGNER ?? LISTS_PUBLIC_KEY;

const read = async (folder: Folder, file: string): Promise<Edition> => {
  assertEditionBytes((await stat(file)).size);
  return readEdition(await readFile(file), getKey(folder), pause);
};

type InstalledLists = {
  readonly edition: Edition;
  /** Null: the edition is the one that this release ships with. */
  readonly file: string | null;
  readonly isSigned: boolean;
  /** Why the installed file is not used. */
  readonly fault?: EditionFault;
};

/** The installed edition, unless this release ships with a newer one. A file that cannot be used is left alone. */
export const readInstalled = async (folder: Folder): Promise<InstalledLists> => {
  const file = getCurrentFile(folder);
  if (!existsSync(file)) return readShipped();
  try {
    const edition = await read(folder, file);
    return compareVersions(edition.version, WHOLE_EDITION.version) > 0
      ? { edition, file, isSigned: true }
      : await readShipped();
  } catch (fault) {
    if (fault instanceof EditionFault) return { ...(await readShipped()), fault };
    throw fault;
  }
};

/** Checked as an update is. A tree whose lists were changed and not signed again has them as they are. */
const readShipped = async (): Promise<InstalledLists> => {
  const edition = await readEdition(formatShippedEdition(), LISTS_PUBLIC_KEY, pause).catch(
    (fault: unknown) => {
      if (fault instanceof EditionFault) return null;
      throw fault;
    },
  );
  return { edition: edition ?? WHOLE_EDITION, file: null, isSigned: edition !== null };
};

/** Checks the file and makes it the installed edition. A running server takes it within seconds. */
export const installLists = async (
  folder: Folder,
  bytes: Uint8Array,
  now: Date,
): Promise<{ readonly edition: Edition; readonly before: Edition }> => {
  const edition = await readEdition(bytes, getKey(folder), pause);
  const { edition: before, file: beforeFile } = await readInstalled(folder);
  await assertReplaces(edition, before, { now, pause });
  const draft = getFile(folder, "draft");
  await mkdir(join(folder.MAILPROOF_DIR, "lists"), { recursive: true, mode: 0o700 });
  await writeFile(draft, bytes, { mode: 0o600, flush: true });
  if (beforeFile === null) await rm(getFile(folder, "former"), { force: true });
  else await copyFile(beforeFile, getFile(folder, "former"));
  await rename(draft, getCurrentFile(folder));
  await flushFolder(folder);
  return { edition, before };
};

/** The edition before the installed one; without one, that of this release. */
export const rollBackLists = async (folder: Folder): Promise<Edition> => {
  const { file } = await readInstalled(folder);
  if (file === null) throw new EditionFault("there is no installed edition to roll back");
  const former = getFile(folder, "former");
  if (existsSync(former)) await rename(former, file);
  else await rm(file);
  await flushFolder(folder);
  return (await readInstalled(folder)).edition;
};

const flushFolder = (folder: Folder): Promise<void> =>
  flushToDisk(join(folder.MAILPROOF_DIR, "lists"));

/** The operator's own entries, where there is a file of them: no update touches it. A wrong line is named. */
export const readListChanges = ({ MAILPROOF_DIR }: Pick<Folder, "MAILPROOF_DIR">) => {
  const file = join(MAILPROOF_DIR, "lists.txt");
  if (!existsSync(file)) return [];
  try {
    return parseListChanges(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new Error(`${file}: ${cause instanceof Error ? cause.message : "unreadable"}`, { cause });
  }
};
