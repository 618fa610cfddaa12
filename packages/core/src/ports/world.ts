import type { Blobs } from "./blobs.ts";
import type { Https } from "./https.ts";
import type { ReadPressure } from "./pressure.ts";
import type { Queue } from "./queue.ts";
import type { Settings } from "./settings.ts";
import type { Table } from "./table.ts";

/** What an id stands for shows in its first letters, in a log as in a support mail. */
export type IdPrefix = "acc" | "key" | "txn" | "req" | "job" | "evt" | "upl" | "whk" | "dlv";

/** The ports: everything outside the process that core may use. Each host brings its adapters, once per process. */
export type World = {
  readonly table: Table;
  readonly queue: Queue;
  /** Whose stored state was found damaged. Absent where the service that stores it watches over it. */
  readonly damagedParts?: () => ReadonlySet<string>;
  readonly blobs: Blobs;
  /** The way to whoever wants to be told. */
  readonly https: Https;
  readonly now: () => Date;
  readonly random: () => number;
  /** Unpredictable to anybody: credentials are made of these, and of nothing else. */
  readonly randomBytes: (count: number) => Uint8Array;
  readonly newId: (prefix: IdPrefix) => string;
  /** Ends early, and quietly, when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Takes out addresses and keys before anything is written (redact.ts). */
  readonly log: Log;
  /** Without it this process takes whatever comes: a Lambda has one request at a time. */
  readonly pressure?: ReadPressure;
  /** Told of each request, so that lists yield. What `enter` returns is called when the response is known. */
  readonly callers?: { readonly enter: () => () => void };
  readonly settings: Settings;
};

export type Log = (event: string, fields: Readonly<Record<string, unknown>>) => void;
