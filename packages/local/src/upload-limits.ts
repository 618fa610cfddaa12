import type { Dirent } from "node:fs";
import { lstat, mkdir, opendir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { BLOBS_KEPT_DAYS, type Blobs } from "@mailproof/core/blobs";
import { Failure } from "@mailproof/core/failure";
import { DAY_MS } from "@mailproof/core/moments";
import { orAbsent } from "./file-blobs.ts";
import { createSlots, type SlotLimits } from "./slots.ts";

/** What files that were uploaded, whole or in part, may take of this machine. docs/operating.md tells operators. */
export const UPLOAD_LIMITS = {
  /** A person sends one file at a time, a program a few. */
  perAccount: 8,
  /** Each holds two descriptors and some buffers. */
  inAll: 64,
  /** Forty of the largest files in a day, which is how long an upload is stored. */
  bytesPerAccount: 2_000_000_000,
  bytesInAll: 20_000_000_000,
  /** What the table, its log and results of accepted lists need must not be taken by uploads. */
  freeBytesMin: 1_000_000_000,
} as const;

export type UploadLimits = SlotLimits & {
  readonly [name in Exclude<keyof typeof UPLOAD_LIMITS, keyof SlotLimits>]: number;
};

type Stored = { readonly account: string; readonly bytes: number; readonly endsAtMs: number };

type Options = {
  /** Where the blobs are. */
  readonly directory: string;
  readonly now: () => Date;
  readonly limits?: UploadLimits;
  readonly freeBytes?: (directory: string) => Promise<number>;
};

const UPLOADS = "uploads/";
const STORED_MS = BLOBS_KEPT_DAYS[UPLOADS] * DAY_MS;

/** How often the free space is looked at while a file comes. */
const LOOK_EVERY_BYTES = 8_000_000;

/**
 * The same store, with limits for uploads: by link, or in a form. Accepted lists and exports are not held to them. The
 * bytes of each account are counted since this process started; the files of earlier ones count in all.
 */
export const withUploadLimits = (blobs: Blobs, options: Options): Blobs => {
  const { directory, now, limits = UPLOAD_LIMITS, freeBytes = freeBytesOf } = options;
  const slots = createSlots("uploads", limits);
  const usage = createUsage(now, limits);
  const underWay = new Set<string>();
  let earlier: Promise<void> | undefined;

  const assertSpace = async (): Promise<void> => {
    if ((await freeBytes(directory)) < limits.freeBytesMin) throw diskIsFull();
  };
  async function* counted(
    account: string,
    content: AsyncIterable<Uint8Array>,
    tell: (n: number) => void,
  ) {
    let sinceLook = 0;
    for await (const piece of content) {
      usage.add(account, piece.length);
      tell(piece.length);
      usage.assertRoom(account);
      sinceLook += piece.length;
      if (sinceLook >= LOOK_EVERY_BYTES) {
        sinceLook = 0;
        await assertSpace();
      }
      yield piece;
    }
  }

  const put: Blobs["put"] = async (key, content) => {
    if (underWay.has(key)) throw isUnderWay();
    const account = accountIn(key);
    const release = slots.acquireSlot(account);
    underWay.add(key);
    let bytes = 0;
    try {
      earlier ??= countStored(join(directory, UPLOADS), usage.store);
      await earlier.catch((cause: unknown) => {
        earlier = undefined;
        throw cause;
      });
      usage.expire();
      usage.assertRoom(account);
      await assertSpace();
      const facts = await blobs.put(
        key,
        counted(account, content, (count) => (bytes += count)),
      );
      usage.store(key, { account, bytes, endsAtMs: now().getTime() + STORED_MS });
      return facts;
    } finally {
      usage.add(account, -bytes);
      underWay.delete(key);
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

/** Bytes of uploads: those that are stored, by their keys, and those that come. */
const createUsage = (now: () => Date, limits: UploadLimits) => {
  const stored = new Map<string, Stored>();
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
    store: (key: string, one: Stored): void => {
      forget(key);
      stored.set(key, one);
      add(one.account, one.bytes);
    },
    expire: (): void => {
      for (const [key, { endsAtMs }] of stored) if (endsAtMs <= now().getTime()) forget(key);
    },
    assertRoom: (account: string): void => {
      const own = byAccount.get(account) ?? 0;
      if (own >= limits.bytesPerAccount) throw accountIsFull(limits.bytesPerAccount);
      if (all >= limits.bytesInAll) throw diskIsFull();
    },
  };
};

/** `uploads/{live|test}/{account}/{file}`: both kinds of keys of an account share its part. */
const accountIn = (key: string): string => key.split("/").at(-2) ?? "";

/** Files that an earlier process left. Their names do not tell whose they are. */
const countStored = async (folder: string, store: (key: string, one: Stored) => void) => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for await (const entry of await opendir(folder, { recursive: true })) {
    const file = join(entry.parentPath, entry.name);
    const found = isFile(entry) && (await orAbsent(lstat(file)));
    if (found) {
      const endsAtMs = found.mtimeMs + STORED_MS;
      store(file, { account: "", bytes: found.size, endsAtMs });
    }
  }
};

const isFile = (entry: Dirent): boolean => entry.isFile();

const freeBytesOf = async (directory: string): Promise<number> => {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
};

const isUnderWay = () =>
  new Failure(
    "REQUEST_IN_PROGRESS",
    "nothing_charged",
    "Another upload to this link is not finished. Wait for its end, or get a new link.",
  );

const accountIsFull = (most: number) =>
  new Failure(
    "RATE_LIMITED",
    "nothing_charged",
    `The uploads of this account have ${most.toLocaleString("en")} bytes, the most that are stored. Each is deleted a day after it came.`,
    { headers: { "retry-after": "3600" } },
  );

const diskIsFull = () =>
  new Failure("UNAVAILABLE", "nothing_charged", "There is no space for uploads right now.");
