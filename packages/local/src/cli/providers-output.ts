import { HOUR_MS } from "@mailproof/core/lib/time";
import type { Json } from "@mailproof/core/ports/table";
import { type CanaryCounts, isInDoubt, REFUSALS_IN_A_ROW } from "@mailproof/core/verify/canaries";

export const formatProviders = (all: readonly CanaryCounts[], now: Date): Json => ({
  providers: all.map((counts) => ({
    provider: counts.sk,
    refuses_unknown_recipients: isInDoubt(counts) ? "in_doubt" : "confirmed",
    canaries: counts.asked,
    refused: counts.refused,
    refused_in_a_row: counts.inARow,
    last_at: counts.lastAt,
    last_hours_ago: countHours(counts.lastAt, now),
    ...(counts.acceptedAt !== undefined && { last_accepted_at: counts.acceptedAt }),
    ...(isInDoubt(counts) && { refusals_until_trusted: REFUSALS_IN_A_ROW - counts.inARow }),
  })),
});

const countHours = (since: string, now: Date): number =>
  Math.round((now.getTime() - Date.parse(since)) / HOUR_MS);
