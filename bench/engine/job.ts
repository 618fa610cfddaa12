import type { Lab, LabStats } from "@mailproof/lab/lab";

export const OURS = "mailproof";
/** Ours with the rule that was: 5 seconds of nothing after a session that was mostly refused. */
export const PAUSING = "mailproof with a pause of 5 s after refusals";

/** Ours as the server runs it with this many engine threads; with none, in its own thread. */
export const THREADED: Readonly<Record<string, number>> = {
  "mailproof, 1 engine thread": 1,
  "mailproof, 2 engine threads": 2,
};

export const isOurs = (engine: string): boolean =>
  engine === OURS || engine === PAUSING || engine in THREADED;

export type BenchVerdict = "valid" | "invalid" | "risky" | "catch_all" | "unknown";

/** Where the lab of this measurement is. */
export type LabAddress = Pick<Lab, "dns" | "smtpPort" | "smtpAddresses">;

/** What one engine is to do, in its own process. */
export type EngineJob = {
  readonly engine: string;
  readonly labAddress: LabAddress;
  readonly addresses: readonly string[];
  /** Addresses under way at once. Ours has its own limits per mail server and per process besides. */
  readonly inFlight: number;
  /** Nothing is begun after this, and what is under way is given up after `graceMs` more. */
  readonly limitMs: number;
  readonly graceMs: number;
  readonly runs: number;
  /** Our verdicts as they arrive, as a job stores them; otherwise in the order of the list, as `mailproof verify` prints them. */
  readonly asTheyArrive?: boolean;
};

export type RunFigures = {
  readonly addresses: number;
  readonly seconds: number;
  readonly cpuMs: number;
  /** By the place in the list; what did not come in time is absent. */
  readonly verdicts: Readonly<Record<number, BenchVerdict>>;
  /** Errors of the engine that it did not catch. Each would have ended a program that does not look out for them. */
  readonly crashes: number;
};

export type EngineOutcome = { readonly runs: readonly RunFigures[]; readonly stats: LabStats };
