import {
  analyseDomain,
  type Doors,
  type Question,
} from "@mailproof/core/deliverability/analyse-domain";
import type { AnalyseSpf, SpfAnalysis } from "@mailproof/core/deliverability/spf";
import { listHealth } from "@mailproof/core/mail/blocklists/health";
import { listAt } from "@mailproof/core/mail/blocklists/lists";
import type { Dns } from "@mailproof/core/mail/dns/dns";
import { recordsOf } from "@mailproof/core/mail/dns/outcome";
import { scoreOf } from "@mailproof/core/mail/rules";
import { issue } from "./findings.ts";

const now = () => new Date(Date.UTC(2026, 10, 21));
const NEVER = () => new Promise<void>(() => {});

/** As much of SPF as a check's own tests need: what the last term says. */
export const spfByItsEnd: AnalyseSpf = async (dns, { domain }): Promise<SpfAnalysis> => {
  const outcome = await dns("TXT", domain);
  if (outcome.kind !== "ok" && outcome.kind !== "nodata" && outcome.kind !== "nxdomain")
    return { status: "error", record: null, score: null, issues: [] };
  const [record, second] = recordsOf(outcome).filter((text) => text.startsWith("v=spf1"));
  if (record === undefined)
    return { status: "missing", record: null, score: 0, issues: [issue("SPF_MISSING")] };
  const [, end = ""] = / ([+?~-]all)$/.exec(record) ?? [];
  const issues = [
    ...(second === undefined ? [] : [issue("SPF_MULTIPLE")]),
    ...(end === "+all" ? [issue("SPF_PLUS_ALL")] : []),
    ...(end === "?all" || end === "" ? [issue("SPF_NEUTRAL_ALL")] : []),
    ...(end === "~all" ? [issue("SPF_SOFTFAIL", "lesser")] : []),
  ];
  return { status: issues.length > 0 ? "fail" : "pass", record, score: scoreOf(issues), issues };
};

export const LIST = "bl.test";

/** A check over one door to names, with one blocklist. Time stands still unless a test lets it pass. */
export const whenChecked = (
  dns: Dns,
  { doors = {}, ...more }: Partial<Question> & { readonly doors?: Partial<Doors> } = {},
) =>
  analyseDomain(
    { dns, listDns: dns, now, sleep: NEVER, ...doors },
    {
      domain: "example.com",
      randomLabel: "r4nd0m",
      allowed: [],
      blocklists: { lists: [listAt(LIST)], keys: {}, isHealthy: listHealth(now) },
      analyseSpf: spfByItsEnd,
      ...more,
    },
  );

/** The same, where there has to be something to report. */
export const reportOf = async (...given: Parameters<typeof whenChecked>) => {
  const found = await whenChecked(...given);
  if (found.kind !== "report") throw new Error("There was nothing to report.");
  return found;
};
