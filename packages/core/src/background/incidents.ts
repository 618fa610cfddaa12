import * as v from "valibot";
import { CLOCK_SKEW_MS, HOUR_MS, toEpochSeconds } from "../lib/time.ts";
import type { Key } from "../ports/table.ts";
import type { World } from "../ports/world.ts";

// Layout. Incidents of the machine itself, retained for an hour for the gauges.
//
//   pk        sk      content
//   INCIDENT  <kind>  at: the time of the latest incident; size: its size

/**
 * `clock_jumped`: `size` is in seconds, negative when the clock was set back. `resources_exhausted`: this machine lacked
 * descriptors, memory or ports.
 */
export type IncidentKind = "clock_jumped" | "resources_exhausted";

const Incident = v.object({ at: v.string(), size: v.number() });

const RETAINED_MS = HOUR_MS;

const incidentKey = (kind: IncidentKind): Key => ({ pk: "INCIDENT", sk: kind });

/** Ignores a failed write: the log still contains the incident. */
export const recordIncident = async (
  { table, now }: Pick<World, "table" | "now">,
  kind: IncidentKind,
  size: number,
): Promise<void> => {
  const at = now();
  const expires_at = toEpochSeconds(at) + RETAINED_MS / 1000;
  const item = { ...incidentKey(kind), at: at.toISOString(), size, expires_at };
  await table.write({ put: item }).catch(() => undefined);
};

/** The size of the latest incident of the last hour; 0 when none occurred. */
export const readIncident = async (
  { table, now }: Pick<World, "table" | "now">,
  kind: IncidentKind,
): Promise<number> => {
  const item = v.safeParse(Incident, await table.get(incidentKey(kind)));
  if (!item.success) return 0;
  const ageMs = now().getTime() - Date.parse(item.output.at);
  return -CLOCK_SKEW_MS <= ageMs && ageMs < RETAINED_MS ? item.output.size : 0;
};
