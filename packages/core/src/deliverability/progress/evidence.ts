import type { MessageReport } from "@mailproof/mail/message/assess";
import { getOwnerId, type Payer } from "../../money/payer.ts";
import type { World } from "../../ports/world.ts";
import { findNewestCheck } from "../history.ts";
import { findReport, type StoredReport } from "../items.ts";
import { findMessageReport, listMailTests } from "../mail-tests/items.ts";
import { type DomainReports, mergeReports } from "../reports/merge-reports.ts";
import type { Report } from "../reports/report.ts";
import { READINESS } from "./readiness-limits.ts";

/** The stored evidence about a domain. Each part may be missing. */
export type Evidence = {
  readonly domain: string;
  readonly now: Date;
  readonly check: CheckEvidence | null;
  readonly test: TestEvidence | null;
  readonly reports: DomainReports;
};

export type CheckEvidence = {
  readonly id: string;
  readonly checkedAt: Date;
  readonly report: StoredReport;
};

type TestEvidence = {
  readonly id: string;
  readonly receivedAt: Date;
  /** Null when the address of the sender, and the report with it, was erased. */
  readonly report: MessageReport | null;
};

/** The window consists of full days, and today is not over. */
const DAYS_READ = READINESS.windowDays + 1;

export const readEvidence = async (
  world: Pick<World, "table" | "now">,
  payer: Pick<Payer, "account" | "mode">,
  domain: string,
  incoming?: Report,
): Promise<Evidence> => {
  const owner = getOwnerId(payer);
  const [check, test, reports] = await Promise.all([
    readCheck(world, owner, domain),
    readTest(world, owner, domain),
    mergeReports(world, payer, { domain, days: DAYS_READ, incoming, authenticatedOnly: true }),
  ]);
  return { domain, now: world.now(), check, test, reports };
};

const readCheck = async (
  { table }: Pick<World, "table">,
  owner: string,
  domain: string,
): Promise<CheckEvidence | null> => {
  const check = await findNewestCheck(table, owner, domain);
  const report = check && (await findReport(table, check.id));
  return check && report ? { id: check.id, checkedAt: new Date(check.checkedAt), report } : null;
};

const readTest = async (
  { table }: Pick<World, "table">,
  owner: string,
  domain: string,
): Promise<TestEvidence | null> => {
  // The domain filter returns only tests whose mail was assessed.
  const { tests } = await listMailTests(table, owner, { limit: 1, domain });
  const [test] = tests;
  if (!test?.receivedAt) return null;
  const report = await findMessageReport(table, test.id);
  return { id: test.id, receivedAt: new Date(test.receivedAt), report: report ?? null };
};
