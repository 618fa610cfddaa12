import type { Blobs } from "./blobs.ts";
import type { ReadFreeBytes } from "./free-space.ts";
import type { Https } from "./https.ts";
import type { Mailer } from "./mailer.ts";
import type { ReadPressure } from "./pressure.ts";
import type { Queue } from "./queue.ts";
import type { Settings } from "./settings.ts";
import type { Table } from "./table.ts";

/** The prefix shows the kind of an id in a log or in a support mail. */
export type IdPrefix =
  | "acc"
  | "key"
  | "txn"
  | "req"
  | "job"
  | "evt"
  | "upl"
  | "whk"
  | "dlv"
  | "exp"
  | "mail"
  | "inv"
  | "person";

/** The runtime makes batch work wait for requests. */
export type Callers = {
  /** The runtime calls this for each request that may probe mail servers, and calls the returned function at the response. */
  readonly enter: () => () => void;
  /** Batch work awaits this before each step; undefined lets the step start immediately. */
  readonly yieldToCallers: (of: {
    readonly account: string;
    readonly priority: "list";
  }) => Promise<void> | undefined;
};

/** The ports: everything outside the process that the core may use. Each runtime provides its adapters, once per process. */
export type World = {
  readonly table: Table;
  readonly queue: Queue;
  readonly damagedParts: () => ReadonlySet<string>;
  readonly blobs: Blobs;
  readonly https: Https;
  /** Used only while `settings.mailFrom` is set. */
  readonly mailer: Mailer;
  readonly now: () => Date;
  readonly random: () => number;
  /** Cryptographically secure: credentials derive from these bytes only. */
  readonly randomBytes: (count: number) => Uint8Array;
  readonly newId: (prefix: IdPrefix) => string;
  /** Resolves early, without an error, when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Redacts addresses and keys before it writes a line (redact.ts). */
  readonly log: Log;
  readonly pressure: ReadPressure;
  readonly freeBytes: ReadFreeBytes;
  /**
   * Fires when this process must end. The service then refuses new paid work, and long polls return. A Lambda's signal never
   * fires: a Lambda ends between two requests.
   */
  readonly stopping: AbortSignal;
  readonly callers: Callers;
  readonly settings: Settings;
};

export type Log = (event: string, fields: Readonly<Record<string, unknown>>) => void;
