import {
  type AnalysisPorts,
  type AnalysisRequest,
  analyseDomain,
} from "@mailproof/core/deliverability/analyse-domain";
import { createListHealth } from "@mailproof/mail/blocklists/health";
import { createList } from "@mailproof/mail/blocklists/lists";
import type { Dns } from "@mailproof/mail/dns/dns";

const now = () => new Date(Date.UTC(2026, 10, 21));
const NEVER = () => new Promise<void>(() => {});

export const LIST = "bl.test";

/** A check over one DNS port, with one blocklist. Time stands still unless a test lets it pass. */
export const whenChecked = (
  dns: Dns,
  {
    ports = {},
    ...more
  }: Partial<AnalysisRequest> & { readonly ports?: Partial<AnalysisPorts> } = {},
) =>
  analyseDomain(
    { dns, listDns: dns, now, sleep: NEVER, ...ports },
    {
      domain: "example.com",
      randomLabel: "r4nd0m",
      dkimSelectors: [],
      allowed: [],
      blocklists: { lists: [createList(LIST)], keys: {}, isHealthy: createListHealth(now) },
      ...more,
    },
  );

/** The same, where there has to be something to report. */
export const createReport = async (...given: Parameters<typeof whenChecked>) => {
  const found = await whenChecked(...given);
  if (found.kind !== "report") throw new Error("There was nothing to report.");
  return found;
};
