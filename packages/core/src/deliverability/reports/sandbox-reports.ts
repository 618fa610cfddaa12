import { addMs, DAY_MS } from "../../lib/time.ts";
import type { DmarcReport, SourceSums } from "./report.ts";

// The reports about a domain under a test key, by its first label, in addition to uploaded reports: one for each of the last 14
// days, always about the same mail.

const DAYS = 14;

const ALIGNED: SourceSums = {
  ip: "192.0.2.1",
  messages: 40,
  aligned: 40,
  spfAligned: 40,
  dkimAligned: 40,
  forwarded: 0,
  dispositions: { none: 40 },
  reasons: {},
  authenticated: {},
};

const FORWARDED: SourceSums = {
  ...ALIGNED,
  ip: "198.51.100.9",
  messages: 3,
  aligned: 0,
  spfAligned: 0,
  dkimAligned: 0,
  forwarded: 3,
  dispositions: { none: 3 },
  reasons: { forwarded: 3 },
};

/** A service that none of the domain's records authorises. */
const SERVICE: SourceSums = {
  ...ALIGNED,
  ip: "203.0.113.7",
  messages: 10,
  aligned: 0,
  spfAligned: 0,
  dkimAligned: 0,
  dispositions: { none: 10 },
  authenticated: { "bounces.mailjet.com": 10 },
};

const SANDBOX_SOURCES: Readonly<Record<string, readonly SourceSums[]>> = {
  ready: [ALIGNED, FORWARDED],
  unaligned: [ALIGNED, FORWARDED, SERVICE],
};

export const createSandboxReports = (domain: string, now: Date): readonly DmarcReport[] => {
  const sources = SANDBOX_SOURCES[domain.split(".")[0] ?? ""];
  if (!sources) return [];
  const midnight = new Date(`${now.toISOString().slice(0, 10)}T00:00:00.000Z`);
  return Array.from({ length: DAYS }, (_, at) => {
    const begin = addMs(midnight, -(at + 1) * DAY_MS);
    return {
      type: "dmarc",
      reporter: "receiver.example",
      reportId: begin.toISOString().slice(0, 10),
      domain,
      begin,
      end: addMs(begin, DAY_MS - 1_000),
      rows: sources.length,
      policy: { p: "none", sp: null, np: null, pct: null, isTesting: false, discoveryMethod: null },
      sources,
    };
  });
};
