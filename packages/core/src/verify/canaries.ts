import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import { MINUTE_MS } from "../lib/time.ts";
import type { Table, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";

// Large providers are believed to refuse unknown recipients (`rejectsUnknown` in mail-provider-table.ts), so an acceptance
// there needs no random recipient. A canary checks the belief: a random recipient that a session tries all the same, beside one
// recipient in 200.
//
// Layout.
//
//   pk        sk          content
//   CANARIES  <provider>  asked, refused: the number of canaries, and of refused ones; inARow: the refusals since the last
//                         acceptance; lastAt: the time of the last canary; acceptedAt: that of the last acceptance

/** A refusal of a random recipient costs reputation, and a list has 200 recipients in less than a minute. */
const ONE_IN = 200;
/** While a provider is in doubt: ten refusals then need about a hundred recipients. */
const ONE_IN_IF_DOUBTED = 10;
/** A single refusal could come from the recipient's filter, or from an unusual server. */
export const REFUSALS_IN_A_ROW = 10;
/** Processes share their canaries with this delay. */
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

export const isInDoubt = ({ acceptedAt, inARow }: CanaryCounts): boolean =>
  acceptedAt !== undefined && inARow < REFUSALS_IN_A_ROW;

export const listCanaryCounts = (table: Table): Promise<CanaryCounts[]> =>
  Array.fromAsync(paginateQuery(table, { pk: PARTITION }), (item) => v.parse(CanaryCounts, item));

export type Canaries = {
  /** Decides at random whether to try a random recipient beside this recipient. Reads nothing. */
  readonly draw: (provider: string) => boolean;
  /** Reads the table at most once a minute. Never rejects. */
  readonly isDoubted: (provider: string) => Promise<boolean>;
  /** Never rejects: the next canary shows the same. */
  readonly record: (provider: string, reply: "accepted" | "refused") => Promise<void>;
};

export type CanaryPorts = Pick<World, "table" | "now" | "random"> & {
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
    // Sets the time even after a failure, so that not every recipient reads a table that is down.
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
