import * as v from "valibot";
import { DAY_MS, toEpochSeconds } from "../lib/time.ts";
import type { Key, Table } from "../ports/table.ts";
import { listProviderBlocks } from "../smtp-pool/circuit-breaker/circuit-items.ts";
import type { ServerVisit } from "./server-visits.ts";

// Stores whether this service can reach mail servers, so that nobody spends time on results that must be unknown.
//
//   pk       sk      content
//   HEALTH   REACH   the result and the time of the last visits

/** Visits can reach mail servers, only DNS, or neither. */
const MEASURED = ["open", "dns_only", "lab"] as const;
export type MeasuredReach = (typeof MEASURED)[number];

/** `refused_by`: some large providers refuse our sessions, all other mail servers can be asked. */
export const REACHES = [...MEASURED, "refused_by", "not_measured"] as const;

export type Reach = {
  readonly state: (typeof REACHES)[number];
  readonly refusedBy: readonly string[];
  /** ISO 8601. Null when the reach was never measured. */
  readonly measuredAt: string | null;
};

export const judgeReach = (
  visits: readonly Pick<ServerVisit, "isResolved" | "isOpen">[],
): MeasuredReach => {
  if (visits.some(({ isOpen }) => isOpen)) return "open";
  return visits.some(({ isResolved }) => isResolved) ? "dns_only" : "lab";
};

const REACH: Key = { pk: "HEALTH", sk: "REACH" };
/** One machine measures each hour; on AWS the operator starts a measurement. */
const KEPT_MS = 30 * DAY_MS;

type Clocked = { readonly table: Pick<Table, "write">; readonly now: () => Date };

export const storeReach = async (
  { table, now }: Clocked,
  measured: MeasuredReach,
): Promise<void> => {
  const at = now();
  await table.write({
    put: {
      ...REACH,
      measured,
      measuredAt: at.toISOString(),
      expires_at: toEpochSeconds(new Date(at.getTime() + KEPT_MS)),
    },
  });
};

const Stored = v.object({ measured: v.picklist(MEASURED), measuredAt: v.string() });

/** True when the last visits reached no mail server. An unreadable table says nothing about the network. */
export const isShutIn = async ({ get }: Pick<Table, "get">): Promise<boolean> => {
  const item = await get(REACH).catch(() => undefined);
  return item !== undefined && v.parse(Stored, item).measured !== "open";
};

export const findReach = async (world: {
  readonly table: Pick<Table, "get" | "query">;
  readonly now: () => Date;
}): Promise<Reach> => {
  const item = await world.table.get(REACH);
  if (!item) return { state: "not_measured", refusedBy: [], measuredAt: null };
  const { measured, measuredAt } = v.parse(Stored, item);
  const blocks = measured === "open" ? await listProviderBlocks(world) : [];
  const refusedBy = [...new Set(blocks.map(({ provider }) => provider))];
  return { state: refusedBy.length > 0 ? "refused_by" : measured, refusedBy, measuredAt };
};
