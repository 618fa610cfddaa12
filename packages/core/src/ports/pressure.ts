/** The resource that this process is short of: it refuses new paid work until the pressure has passed. */
export type Pressure = "event_loop_late" | "memory_short";

/** Null: none. A Lambda has none, since it handles one request at a time. */

export type ReadPressure = () => Pressure | null;
