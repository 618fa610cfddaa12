import type { Dirent } from "node:fs";
import { lstat, mkdir, opendir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "@mailproof/core/lib/failure";
import { DAY_MS } from "@mailproof/core/lib/time";
import { BLOB_RETENTION_DAYS, type Blobs } from "@mailproof/core/ports/blobs";
import { ignoreMissing } from "../storage/file-blobs.ts";
import { createSlots, type SlotLimits } from "./slots.ts";

/** Limits of complete and partial uploads on this machine. See docs/operating.md. */
export const UPLOAD_LIMITS = {
  /** A person uploads one file at a time, a program a few. */
  perAccount: 8,
  /** Each holds two descriptors and some buffers. */
  inAll: 64,
  /** Forty of the largest files. An upload is stored for a day. */
  bytesPerAccount: 2_000_000_000,
  bytesInAll: 20_000_000_000,
  /** Free space that uploads must leave for the table, its log and the results of accepted lists. */
  freeBytesMin: 1_000_000_000,
} as const;

export type UploadLimits = SlotLimits & {
  readonly [name in Exclude<keyof typeof UPLOAD_LIMITS, keyof SlotLimits>]: number;
};

type StoredUpload = { readonly account: string; readonly bytes: number; readonly endsAtMs: number };

type UploadLimitOptions = {
  /** The folder of the blobs. */
  readonly directory: string;
  readonly now: () => Date;
  readonly limits?: UploadLimits;
  readonly freeBytes?: (directory: string) => Promise<number>;
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
  const slots = createSlots("uploads", limits);
  const usage = createUsage(now, limits);
  const inProgress = new Set<string>();
  let counting: Promise<void> | undefined;

  const assertSpace = async (): Promise<void> => {
    if ((await freeBytes(directory)) < limits.freeBytesMin) throw createDiskFullError();
  };
  async function* countBytes(
    account: string,
    content: AsyncIterable<Uint8Array>,
    onBytes: (n: number) => void,
  ) {
    let sinceCheck = 0;
    for await (const piece of content) {
      usage.add(account, piece.length);
      onBytes(piece.length);
      usage.assertRoom(account);
      sinceCheck += piece.length;
      if (sinceCheck >= CHECK_EVERY_BYTES) {
        sinceCheck = 0;
        await assertSpace();
      }
      yield piece;
    }
  }

  const put: Blobs["put"] = async (key, content) => {
    if (inProgress.has(key)) throw createInProgressError();
    const account = parseAccount(key);
    const release = slots.acquireSlot(account);
    inProgress.add(key);
    let bytes = 0;
    try {
      counting ??= countStored(join(directory, UPLOADS), usage.store);
      await counting.catch((cause: unknown) => {
        counting = undefined;
        throw cause;
      });
      usage.expire();
      usage.assertRoom(account);
      await assertSpace();
      const metadata = await blobs.put(
        key,
        countBytes(account, content, (count) => (bytes += count)),
      );
      usage.store(key, { account, bytes, endsAtMs: now().getTime() + STORED_MS });
      return metadata;
    } finally {
      usage.add(account, -bytes);
      inProgress.delete(key);
      release();
    }
  };

  return {
    ...blobs,
    put: (key, content) => (key.startsWith(UPLOADS) ? put(key, content) : blobs.put(key, content)),
    remove: async (key) => {
      await blobs.remove(key);
      usage.forget(key);
    },
  };
};

/** Bytes of uploads: of stored files, by key, and of uploads in progress. */
const createUsage = (now: () => Date, limits: UploadLimits) => {
  const stored = new Map<string, StoredUpload>();
  const byAccount = new Map<string, number>();
  let all = 0;

  const add = (account: string, bytes: number): void => {
    all += bytes;
    const sum = (byAccount.get(account) ?? 0) + bytes;
    if (sum === 0) byAccount.delete(account);
    else byAccount.set(account, sum);
  };
  const forget = (key: string): void => {
    const found = stored.get(key);
    if (!found) return;
    stored.delete(key);
    add(found.account, -found.bytes);
  };

  return {
    add,
    forget,
    store: (key: string, one: StoredUpload): void => {
      forget(key);
      stored.set(key, one);
      add(one.account, one.bytes);
    },
    expire: (): void => {
      for (const [key, { endsAtMs }] of stored) if (endsAtMs <= now().getTime()) forget(key);
    },
    assertRoom: (account: string): void => {
      const own = byAccount.get(account) ?? 0;
      if (own >= limits.bytesPerAccount) throw createAccountFullError(limits.bytesPerAccount);
      if (all >= limits.bytesInAll) throw createDiskFullError();
    },
  };
};

/** `uploads/{live|test}/{account}/{file}`: live and test keys of an account share its limit. */
const parseAccount = (key: string): string => key.split("/").at(-2) ?? "";

/** Files of an earlier process. Their names do not show the account. */
const countStored = async (folder: string, store: (key: string, one: StoredUpload) => void) => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for await (const entry of await opendir(folder, { recursive: true })) {
    const file = join(entry.parentPath, entry.name);
    const found = isFile(entry) && (await ignoreMissing(lstat(file)));
    if (found) {
      const endsAtMs = found.mtimeMs + STORED_MS;
      store(file, { account: "", bytes: found.size, endsAtMs });
    }
  }
};

const isFile = (entry: Dirent): boolean => entry.isFile();

const readFreeBytes = async (directory: string): Promise<number> => {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
};

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
