import type { Dirent } from "node:fs";
import { lstat, mkdir, opendir } from "node:fs/promises";
import { join } from "node:path";
import { createBudget, type Hold } from "@mailproof/core/lib/budget";
import { Failure } from "@mailproof/core/lib/failure";
import { DAY_MS } from "@mailproof/core/lib/time";
import { BLOB_RETENTION_DAYS, type Blobs } from "@mailproof/core/ports/blobs";
import { FREE_BYTES } from "@mailproof/core/ports/free-space";
import { ignoreMissing } from "../storage/file-blobs.ts";
import { readFreeBytes } from "../storage/free-bytes.ts";
import { createShares } from "./slots.ts";

/** Limits of complete and partial uploads on this machine. See docs/operating.md. */
export const UPLOAD_LIMITS = {
  /** A person uploads one file at a time, a program a few. */
  perAccount: 8,
  /** Each holds two descriptors and some buffers. */
  inAll: 64,
  /** Forty of the largest files. An upload is stored for a day. */
  bytesPerAccount: 2_000_000_000,
  bytesInAll: 20_000_000_000,
  freeBytesMin: FREE_BYTES.forUploads,
} as const;

export type UploadLimits = { readonly [name in keyof typeof UPLOAD_LIMITS]: number };

type UploadLimitOptions = {
  /** The folder of the blobs. */
  readonly directory: string;
  readonly now: () => Date;
  readonly limits?: UploadLimits;
  readonly freeBytes?: typeof readFreeBytes;
};

const UPLOADS = "uploads/";
const STORED_MS = BLOB_RETENTION_DAYS[UPLOADS] * DAY_MS;

/** The free space is checked after this many bytes of an upload. */
const CHECK_EVERY_BYTES = 8_000_000;

/**
 * The same store, with limits for uploads by link or form. Accepted lists and exports have no such limits. The bytes of
 * each account are counted since this process started; files of earlier processes count only towards the total.
 */
export const withUploadLimits = (blobs: Blobs, options: UploadLimitOptions): Blobs => {
  const { directory, now, limits = UPLOAD_LIMITS, freeBytes = readFreeBytes } = options;
  const takeUpload = createShares("uploads", { ...limits, perShare: limits.perAccount });
  const bytes = createBudget({ inAll: limits.bytesInAll, perShare: limits.bytesPerAccount });
  const stored = createStoredUploads(now);
  const inProgress = new Set<string>();
  let counting: Promise<void> | undefined;

  const assertSpace = (): void => {
    const free = freeBytes(directory);
    if (free !== null && free < limits.freeBytesMin) throw createDiskFullError();
  };
  async function* countBytes(account: string, content: AsyncIterable<Uint8Array>, hold: Hold) {
    let sinceCheck = 0;
    for await (const piece of content) {
      if (!hold.more(piece.length)) throw createFullError(account);
      sinceCheck += piece.length;
      if (sinceCheck >= CHECK_EVERY_BYTES) {
        sinceCheck = 0;
        assertSpace();
      }
      yield piece;
    }
  }
  const createFullError = (account: string): Failure => {
    const { ofShare, ofAll } = bytes.left(account);
    return ofShare < ofAll ? createAccountFullError(limits.bytesPerAccount) : createDiskFullError();
  };
  const countEarlier = async (): Promise<void> => {
    for await (const { file, size, mtimeMs } of listFiles(join(directory, UPLOADS))) {
      // The names of stored files do not show their account, and their bytes may exceed today's limit.
      const { ofShare, ofAll } = bytes.left(file);
      const hold = bytes.take(file, Math.max(0, Math.min(size, ofShare, ofAll)));
      if (hold) stored.add(file, hold, mtimeMs);
    }
  };

  const put: Blobs["put"] = async (key, content) => {
    if (inProgress.has(key)) throw createInProgressError();
    const account = parseAccount(key);
    const upload = takeUpload(account);
    inProgress.add(key);
    let hold: Hold | undefined;
    try {
      counting ??= countEarlier();
      await counting.catch((cause: unknown) => {
        counting = undefined;
        throw cause;
      });
      stored.expire();
      hold = bytes.take(account, 1);
      if (!hold) throw createFullError(account);
      assertSpace();
      const metadata = await blobs.put(key, countBytes(account, content, hold));
      stored.add(key, hold, now().getTime());
      hold = undefined;
      return metadata;
    } finally {
      hold?.giveBack();
      inProgress.delete(key);
      upload.giveBack();
    }
  };

  return {
    ...blobs,
    put: (key, content) => (key.startsWith(UPLOADS) ? put(key, content) : blobs.put(key, content)),
    remove: async (key) => {
      await blobs.remove(key);
      stored.forget(key);
    },
  };
};

/** Counts the bytes of stored files by key until the sweeper deletes the files after a day. */
const createStoredUploads = (now: () => Date) => {
  const all = new Map<string, { readonly hold: Hold; readonly endsAtMs: number }>();
  const forget = (key: string): void => {
    all.get(key)?.hold.giveBack();
    all.delete(key);
  };
  return {
    forget,
    add: (key: string, hold: Hold, storedAtMs: number): void => {
      forget(key);
      all.set(key, { hold, endsAtMs: storedAtMs + STORED_MS });
    },
    expire: (): void => {
      for (const [key, { endsAtMs }] of all) if (endsAtMs <= now().getTime()) forget(key);
    },
  };
};

/** `uploads/{live|test}/{account}/{file}`: live and test keys of an account share its limit. */
const parseAccount = (key: string): string => key.split("/").at(-2) ?? "";

async function* listFiles(folder: string) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for await (const entry of await opendir(folder, { recursive: true })) {
    const file = join(entry.parentPath, entry.name);
    const found = isFile(entry) && (await ignoreMissing(lstat(file)));
    if (found) yield { file, size: found.size, mtimeMs: found.mtimeMs };
  }
}

const isFile = (entry: Dirent): boolean => entry.isFile();

const createInProgressError = () =>
  new Failure(
    "REQUEST_IN_PROGRESS",
    "nothing_charged",
    "Another upload to this link is not finished. Wait for its end, or get a new link.",
  );

const createAccountFullError = (most: number) =>
  new Failure(
    "RATE_LIMITED",
    "nothing_charged",
    `The uploads of this account have ${most.toLocaleString("en")} bytes, the limit. Each is deleted after a day.`,
    { retryAfterMs: 3_600_000 },
  );

const createDiskFullError = () =>
  new Failure("UNAVAILABLE", "nothing_charged", "There is no space for uploads right now.");
