import * as v from "valibot";
import { DAY_MS, toEpochSeconds } from "../lib/time.ts";
import type { Key, Table } from "../ports/table.ts";
import { listProviderBlocks } from "../smtp-pool/circuit-breaker/circuit-items.ts";
import type { ServerVisit } from "./server-visits.ts";

// Whether this service can see mail servers, so that nobody spends time on results that can only be unknown.
//
//   pk       sk      what
//   HEALTH   REACH   what the last visits found, and when

/** What visits can find: mail servers, names alone, or neither. */
const MEASURED = ["open", "dns_only", "lab"] as const;
export type MeasuredReach = (typeof MEASURED)[number];

/** `refused_by`: mail servers can be asked, but for those of some large providers. */
export const REACHES = [...MEASURED, "refused_by", "not_measured"] as const;

export type Reach = {
  readonly state: (typeof REACHES)[number];
  /** The large providers that refuse sessions now. */
  readonly refusedBy: readonly string[];
  /** ISO 8601. Null: never. */
  readonly measuredAt: string | null;
};

export const judgeReach = (
  visits: readonly Pick<ServerVisit, "isResolved" | "isOpen">[],
): MeasuredReach => {
  if (visits.some(({ isOpen }) => isOpen)) return "open";
  return visits.some(({ isResolved }) => isResolved) ? "dns_only" : "lab";
};

const REACH: Key = { pk: "HEALTH", sk: "REACH" };
/** One machine measures each hour; a stage when its operator asks. */
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

/** The last visits reached no mail server. A table that cannot be read says nothing of the network. */
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
