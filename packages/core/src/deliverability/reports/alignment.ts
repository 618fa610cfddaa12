import { getOwnerId, type Payer } from "../../accounts/payer.ts";
import type { World } from "../../ports/world.ts";
import { type DatedSource, mergeReports } from "./merge-reports.ts";
import { countUnaligned } from "./source-sums.ts";

/** How far the mail of a domain is from passing under a stricter policy. */
export type Alignment = {
  readonly reports: number;
  readonly messages: number;
  /** Share of messages that are aligned, 0–1. Null without messages. */
  readonly share: number | null;
  /** Sources with mail that is neither aligned nor known as forwarded, the largest first. */
  readonly unalignedSources: readonly DatedSource[];
  /** There are more reports than were read: the oldest are missing. */
  readonly isTruncated: boolean;
};

export const readAlignment = async (
  world: Pick<World, "table" | "now">,
  payer: Pick<Payer, "account" | "mode">,
  query: { readonly domain: string; readonly days: number },
): Promise<Alignment> => {
  const { dmarc, isTruncated } = await mergeReports(world, getOwnerId(payer), query);
  const { messages, aligned } = dmarc.total;
  return {
    reports: dmarc.reports,
    messages,
    share: messages === 0 ? null : aligned / messages,
    unalignedSources: dmarc.sources.filter((source) => countUnaligned(source) > 0),
    isTruncated,
  };
};
