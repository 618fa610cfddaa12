import { MINUTE_MS, toEpochSeconds } from "@mailproof/core/lib/time";
import type { Key, Table } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";

// When the metrics were last read, to the minute.
//
//   pk       sk       what
//   HEALTH   SCRAPE   at

const SCRAPE: Key = { pk: "HEALTH", sk: "SCRAPE" };
const KEPT_SECONDS = 86_400;

export const createScrapeRecorder = ({ table, now }: Pick<World, "table" | "now">) => {
  let writtenMs = 0;
  return async (): Promise<void> => {
    const at = now();
    if (at.getTime() - writtenMs < MINUTE_MS) return;
    writtenMs = at.getTime();
    const expires_at = toEpochSeconds(at) + KEPT_SECONDS;
    await table.write({ put: { ...SCRAPE, at: at.toISOString(), expires_at } });
  };
};

/** Undefined when nobody has read the metrics for a day. */
export const readLastScrape = async ({ get }: Pick<Table, "get">): Promise<Date | undefined> => {
  const at = (await get(SCRAPE))?.["at"];
  return typeof at === "string" ? new Date(at) : undefined;
};
