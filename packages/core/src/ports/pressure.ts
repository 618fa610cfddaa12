/** The resource that this process lacks: it refuses new paid work until the pressure has passed. */
export type Pressure = "event_loop_late" | "memory_short" | "disk_full";

/** Returns the scarce resource, or null without one. A Lambda always returns null, since it handles one request at a time. */

export type ReadPressure = () => Pressure | null;
