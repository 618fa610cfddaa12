import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import { MINUTE_MS } from "../lib/time.ts";
import type { Table, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";

// Large providers are believed to refuse unknown recipients (`rejectsUnknown` in mail-provider-table.ts), so that an
// acceptance there needs no random recipient. A canary checks the belief: a random recipient that is asked about all the
// same, beside one recipient in 200.
//
// Layout.
//
//   pk        sk          what
//   CANARIES  <provider>  asked, refused: canaries so far, and those that were refused; inARow: those since the last
//                         that was accepted; lastAt: the last one; acceptedAt: the last that was accepted

/** A refusal of a random recipient costs reputation, and 200 recipients are less than a minute of a list. */
const ONE_IN = 200;
/** While a provider is in doubt: ten refusals are some hundred recipients away. */
const ONE_IN_IF_DOUBTED = 10;
/** One refusal more could be the recipient's filter, or a server that is not like the others. */
export const REFUSALS_IN_A_ROW = 10;
/** Processes share what they find out with this delay. */
const REFRESH_MS = MINUTE_MS;

const PARTITION = "CANARIES";

const Count = v.optional(v.number(), 0);
const CanaryCounts = v.object({
  sk: v.string(),
  asked: Count,
  refused: Count,
  inARow: Count,
  lastAt: v.string(),
  acceptedAt: v.optional(v.string()),
});
export type CanaryCounts = Readonly<v.InferOutput<typeof CanaryCounts>>;

/** Whether the provider accepted a canary, and did not yet refuse enough of them since. */
export const isInDoubt = ({ acceptedAt, inARow }: CanaryCounts): boolean =>
  acceptedAt !== undefined && inARow < REFUSALS_IN_A_ROW;

export const listCanaryCounts = (table: Table): Promise<CanaryCounts[]> =>
  Array.fromAsync(paginateQuery(table, { pk: PARTITION }), (item) => v.parse(CanaryCounts, item));

export type Canaries = {
  /** Whether a random recipient is asked about beside this recipient. By chance; reads nothing. */
  readonly draw: (provider: string) => boolean;
  /** Reads the table at most once a minute. Never rejects. */
  readonly isDoubted: (provider: string) => Promise<boolean>;
  /** Never rejects: the next canary finds the same. */
  readonly record: (provider: string, reply: "accepted" | "refused") => Promise<void>;
};

export type CanaryPorts = Pick<World, "table" | "now" | "random"> & {
  /** Absent: nothing is logged. */
  readonly log?: World["log"];
};

export const createCanaries = ({ table, now, random, log }: CanaryPorts): Canaries => {
  const byProvider = new Map<string, CanaryCounts>();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  const isDoubted = (provider: string): boolean => {
    const counts = byProvider.get(provider);
    return counts !== undefined && isInDoubt(counts);
  };

  const read = async (): Promise<void> => {
    // Also after a failure: a table that is down is not asked about by each recipient.
    readAtMs = now().getTime();
    const found = await listCanaryCounts(table).catch(() => []);
    for (const counts of found) byProvider.set(counts.sk, counts);
  };

  return {
    draw: (provider) => random() < 1 / (isDoubted(provider) ? ONE_IN_IF_DOUBTED : ONE_IN),

    isDoubted: async (provider) => {
      const ageMs = now().getTime() - readAtMs;
      if (ageMs < 0 || ageMs >= REFRESH_MS)
        reading ??= read().finally(() => {
          reading = null;
        });
      await reading;
      return isDoubted(provider);
    },

    record: async (provider, reply) => {
      const wasDoubted = isDoubted(provider);
      const written = await table
        .write(toWrite(provider, reply, now()))
        .catch(() => ({ outcome: "ambiguous" }) as const);
      const counts =
        written.outcome === "committed"
          ? v.safeParse(CanaryCounts, written.item)
          : { success: false as const };
      if (counts.success) byProvider.set(provider, counts.output);
      if (isDoubted(provider) !== wasDoubted)
        log?.(wasDoubted ? "provider_refuses_unknown" : "provider_accepts_unknown", { provider });
    },
  };
};

const toWrite = (provider: string, reply: "accepted" | "refused", at: Date): Write => {
  const update = { pk: PARTITION, sk: provider };
  const lastAt = at.toISOString();
  return reply === "accepted"
    ? { update, set: { lastAt, acceptedAt: lastAt, inARow: 0 }, add: { asked: 1 }, orCreate: true }
    : { update, set: { lastAt }, add: { asked: 1, refused: 1, inARow: 1 }, orCreate: true };
};
