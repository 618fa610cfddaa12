import type { Blobs } from "./blobs.ts";
import type { Https } from "./https.ts";
import type { ReadPressure } from "./pressure.ts";
import type { Queue } from "./queue.ts";
import type { Settings } from "./settings.ts";
import type { Table } from "./table.ts";

/** The prefix of an id names its kind, so an id in a log or a support mail explains itself. */
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
  | "exp";

/** Lets batch work yield to requests. */
export type Callers = {
  /** Called for each request that may ask mail servers. Returns the function to call at the response. */
  readonly enter: () => () => void;
  /** Each step of batch work waits for this; undefined: it starts immediately. */
  readonly yieldToCallers: (of: {
    readonly account: string;
    readonly priority: "list";
  }) => Promise<void> | undefined;
};

/**
 * The ports: everything outside the process that the core may use. Each runtime provides its adapters, once per
 * process.
 */
export type World = {
  readonly table: Table;
  readonly queue: Queue;
  /** The stores that were found damaged. */
  readonly damagedParts: () => ReadonlySet<string>;
  readonly blobs: Blobs;
  /** Sends webhooks. */
  readonly https: Https;
  readonly now: () => Date;
  readonly random: () => number;
  /** Cryptographically secure: credentials are made from these bytes only. */
  readonly randomBytes: (count: number) => Uint8Array;
  readonly newId: (prefix: IdPrefix) => string;
  /** Resolves early, without an error, when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Redacts addresses and keys before anything is written (redact.ts). */
  readonly log: Log;
  readonly pressure: ReadPressure;
  /**
   * Fires when this process is to end. New work with a price is refused then, and a request that waits stops
   * waiting. That of a Lambda never fires: it ends between two requests.
   */
  readonly stopping: AbortSignal;
  readonly callers: Callers;
  readonly settings: Settings;
};

export type Log = (event: string, fields: Readonly<Record<string, unknown>>) => void;
