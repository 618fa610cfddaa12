/** What this process is short of: it refuses new paid work until it has caught up. */
export type Pressure = "event_loop_late" | "memory_short";

export type ReadPressure = () => Pressure | null;
