import { findSenderService } from "./advise.ts";
import type { SourceSums } from "./report.ts";
import { mergeSources } from "./source-sums.ts";

export type ProviderSums = {
  /** Null for the sum of all senders that are not a known service. */
  readonly provider: string | null;
  readonly sources: number;
  readonly total: SourceSums;
};

export const listProviders = (sources: readonly SourceSums[]): readonly ProviderSums[] => {
  const groups = Map.groupBy(sources, (source) => findSenderService(source)?.name ?? null);
  return [...groups]
    .map(([provider, group]) => ({
      provider,
      sources: group.length,
      total: mergeSources(group, null),
    }))
    .toSorted((one, other) => other.total.messages - one.total.messages);
};
