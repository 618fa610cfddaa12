import {
  type AnalysisPorts,
  type AnalysisRequest,
  analyseDomain,
} from "@mailproof/core/deliverability/analyse-domain";
import {
  type CheckComponent,
  COMPONENTS,
  type Findings,
} from "@mailproof/core/deliverability/findings";
import { createListHealth } from "@mailproof/mail/blocklists/health";
import { BLOCKLISTS, createList } from "@mailproof/mail/blocklists/lists";
import { DKIM_RULES } from "@mailproof/mail/dkim/analyse";
import { DMARC_RULES } from "@mailproof/mail/dmarc/rules";
import type { Dns } from "@mailproof/mail/dns/dns";
import { PTR_RULES } from "@mailproof/mail/dns/reverse-dns";
import type { Issue } from "@mailproof/mail/issue";
import { createIssueFactory, type IssueRules } from "@mailproof/mail/issue-rules";
import { MX_RULES } from "@mailproof/mail/mx/rules";
import { SPF_RULES, type SpfRule, createSpfIssues as spfIssuesOf } from "@mailproof/mail/spf/rules";

/** Both degrees of every rule of a table. */
const all = (rules: IssueRules<string>): readonly Issue[] =>
  Object.keys(rules).flatMap((id) => {
    const of = createIssueFactory(rules);
    return rules[id]?.lesser ? [of(id), of(id, {}, "lesser")] : [of(id)];
  });

/** Every price of every rule of SPF, which may have several under one name; dearest first, as in the other tables. */
const ofSpf = (Object.keys(SPF_RULES) as SpfRule[])
  .flatMap((rule) => spfIssuesOf([{ rule, detail: {} }]))
  .toSorted((a, b) => b.costPoints - a.costPoints);

const listings = BLOCKLISTS.flatMap((list) =>
  Object.values(list.codes.meanings).map(
    ({ says: meaning, severity, costPoints }): Issue => ({
      id: `LISTED:${list.id}`,
      severity,
      costPoints,
      message: meaning,
      detail: { spam: list.spamPoints ?? costPoints },
    }),
  ),
);

/** Every issue that there can be, by where it belongs. */
export const EVERY_ISSUE: Readonly<Record<CheckComponent, readonly Issue[]>> = {
  dns: all(MX_RULES),
  spf: ofSpf,
  dkim: all(DKIM_RULES),
  dmarc: all(DMARC_RULES),
  reputation: listings,
  ptr: all(PTR_RULES),
};

export const issue = (id: string, degree: "full" | "lesser" = "full"): Issue => {
  const [full, lesser] = Object.values(EVERY_ISSUE)
    .flat()
    .filter((one) => one.id === id);
  const found = degree === "lesser" ? lesser : full;
  if (!found) throw new Error(`No rule is called ${id}`);
  return found;
};

const getComponent = (one: Issue): CheckComponent =>
  COMPONENTS.find((component) => EVERY_ISSUE[component].some(({ id }) => id === one.id)) ?? "dns";

/** Everything was looked at, and these were found: ids, or issues. */
export const finding = (...found: readonly (string | Issue)[]): Findings => {
  const issues = found.map((one) => (typeof one === "string" ? issue(one) : one));
  const of = (component: CheckComponent) => issues.filter((one) => getComponent(one) === component);
  return {
    dns: of("dns"),
    spf: of("spf"),
    dkim: of("dkim"),
    dmarc: of("dmarc"),
    reputation: of("reputation"),
    ptr: of("ptr"),
  };
};

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
