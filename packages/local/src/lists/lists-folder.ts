import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Log } from "@mailproof/core/ports/world";
import { type ListChange, parseListChanges } from "@mailproof/mail/lists/changes";
import { compareVersions } from "@mailproof/mail/lists/edition-age";
import {
  assertEditionBytes,
  assertReplaces,
  type Edition,
  EditionFault,
  readEdition,
} from "@mailproof/mail/lists/edition-file";
import { createLists, createReplaceableLists, type Lists } from "@mailproof/mail/lists/lists";
import { LISTS_PUBLIC_KEY } from "@mailproof/mail/lists/public-key";
import { formatShippedEdition } from "@mailproof/mail/lists/shipped-edition";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import type { Environment } from "../environment.ts";
import { flushToDisk } from "../storage/atomic-file.ts";

// In the state folder, lists/current.txt is the installed edition, and lists/former.txt the edition before it. No file is incomplete: a
// draft gets its name after it was flushed to the disk.

type Folder = Pick<Environment, "MAILPROOF_DIR" | "LISTS_SIGNER">;

const getFile = ({ MAILPROOF_DIR }: Folder, name: "current" | "former" | "draft"): string =>
  join(MAILPROOF_DIR, "lists", `${name}.txt`);

const getCurrentFile = (folder: Folder): string => getFile(folder, "current");

const pause = (): Promise<void> => setImmediate();

const getKey = ({ LISTS_SIGNER }: Folder): string => LISTS_SIGNER ?? LISTS_PUBLIC_KEY;

const read = async (folder: Folder, file: string): Promise<Edition> => {
  assertEditionBytes((await stat(file)).size);
  return readEdition(await readFile(file), getKey(folder), pause);
};

type InstalledLists = {
  readonly edition: Edition;
  /** Null for the edition that this release ships with. */
  readonly file: string | null;
  readonly isSigned: boolean;
  /** The reason that the server does not use the installed file. */
  readonly fault?: EditionFault;
};

/** Returns the installed edition, or the shipped one if it is newer. Never changes an unusable file. */
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

/** Checks the shipped lists like an update. In a source tree with changed, unsigned lists, returns the unsigned lists. */
const readShipped = async (): Promise<InstalledLists> => {
  const edition = await readEdition(formatShippedEdition(), LISTS_PUBLIC_KEY, pause).catch(
    (fault: unknown) => {
      if (fault instanceof EditionFault) return null;
      throw fault;
    },
  );
  return { edition: edition ?? WHOLE_EDITION, file: null, isSigned: edition !== null };
};

/** Checks the file and installs it as the edition. A running server uses the new edition within seconds. */
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

/** Restores the edition before the installed one, or otherwise the shipped edition, and returns it. */
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

/** Reads the operator's own changes, which no update overwrites. The error of a wrong line names the line. */
export const readListChanges = ({ MAILPROOF_DIR }: Pick<Folder, "MAILPROOF_DIR">) => {
  const file = join(MAILPROOF_DIR, "lists.txt");
  if (!existsSync(file)) return [];
  try {
    return parseListChanges(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new Error(`${file}: ${cause instanceof Error ? cause.message : "unreadable"}`, { cause });
  }
};

/** A command installs the file and ends without a message to the server, so the server checks the file at this interval. */
const LOOK_AGAIN_MS = 1_000;

type OpenLists = {
  readonly lists: Lists;
  /** Resolves when the process uses the installed edition, if one exists. */
  readonly ready: Promise<void>;
  readonly close: () => void;
};

/**
 * Returns the lists of this process: first the shipped edition, then the installed edition once it is read, then each edition that
 * a command installs. Other work continues while the process reads; one assignment replaces the lists.
 */
export const openLists = (
  environment: Environment,
  changes: readonly ListChange[],
  log?: Log,
): OpenLists => {
  const { lists, replace } = createReplaceableLists(createLists(changes, WHOLE_EDITION));
  let seen = ABSENT;
  const look = async (): Promise<void> => {
    const mark = await getMark(getCurrentFile(environment));
    if (mark === seen) return;
    seen = mark;
    const { edition, fault } = await readInstalled(environment);
    if (fault) log?.("lists_refused", { reason: fault.message });
    if (edition.version === lists.edition) return;
    const before = lists.edition;
    replace(createLists(changes, edition));
    log?.("lists_replaced", { version: edition.version, before });
  };
  const lookSafely = (): Promise<void> =>
    look().catch((cause: unknown) => log?.("lists_refused", { cause }));
  let timer: NodeJS.Timeout;
  let isClosed = false;
  const lookOn = async (): Promise<void> => {
    await lookSafely();
    if (!isClosed) timer = setTimeout(() => void lookOn(), LOOK_AGAIN_MS).unref();
  };
  return {
    lists,
    ready: lookOn(),
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
};

const ABSENT = "";

/** Returns a text that changes when another file replaces this one under the same name. */
const getMark = async (file: string): Promise<string> => {
  try {
    const { ino, size, mtimeMs } = await stat(file);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return ABSENT;
  }
};
