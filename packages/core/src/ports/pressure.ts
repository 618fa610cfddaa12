/** The resource that this process is short of: it refuses new paid work until the pressure has passed. */
export type Pressure = "event_loop_late" | "memory_short";

export type ReadPressure = () => Pressure | null;
