import { stat } from "node:fs/promises";
import type { Log } from "@mailproof/core/ports/world";
import type { ListChange } from "@mailproof/mail/lists/changes";
import { createLists, createReplaceableLists, type Lists } from "@mailproof/mail/lists/lists";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import type { Environment } from "../environment.ts";
import { getCurrentFile, readInstalled } from "./lists-folder.ts";

/** A command replaces the file and ends: nothing else says that it did. */
const LOOK_AGAIN_MS = 1_000;

type OpenLists = {
  readonly lists: Lists;
  /** Resolves when the installed edition, if there is one, is in use. */
  readonly ready: Promise<void>;
  readonly close: () => void;
};

/**
 * The lists of this process: those of the release at once, the installed ones as soon as they are read, and each edition that
 * a command installs from then on. Reading lets other work in, and the replacement is one assignment.
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

/** What differs between one file and the next of its name. */
const getMark = async (file: string): Promise<string> => {
  try {
    const { ino, size, mtimeMs } = await stat(file);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return ABSENT;
  }
};
