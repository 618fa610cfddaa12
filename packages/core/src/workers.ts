import type { Schedule, Worker } from "./worker.ts";

/** Everything that is done behind the caller's back: both runtimes run exactly these. */
export const workers: readonly Worker[] = [];
export const schedules: readonly Schedule[] = [];
