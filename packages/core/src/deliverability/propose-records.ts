import type { Advice } from "@mailproof/mail/advice";
import type { DkimAnalysis } from "@mailproof/mail/dkim/analyse";
import { analyseDmarc, type DmarcAnalysis } from "@mailproof/mail/dmarc/analyse";
import type { Dns } from "@mailproof/mail/dns/dns";
import type { Issue } from "@mailproof/mail/issue";
import type { MxAnalysis } from "@mailproof/mail/mx/analyse";
import { proposeDmarc } from "@mailproof/mail/records/dmarc-record";
import { overlayTexts, type ProposedRecord } from "@mailproof/mail/records/dns-record";
import { proposeOther } from "@mailproof/mail/records/other-records";
import { hasGap, proposeSpf, removeGaps } from "@mailproof/mail/records/spf-record";
import { analyseSpf, type SpfAnalysis } from "@mailproof/mail/spf/analyse";
import { crossCheck } from "./cross-checks.ts";
import { type Findings, toFindings } from "./findings.ts";
import { scoreFindings } from "./score.ts";

type Input = {
  readonly domain: string;
  readonly sendingIp: string | null;
  readonly now: Date;
  readonly mx: MxAnalysis;
  readonly spf: SpfAnalysis;
  readonly dkim: DkimAnalysis;
  readonly dmarc: DmarcAnalysis;
  readonly findings: Findings;
  readonly reportsMailbox: string | undefined;
};

/** The records that resolve what was found. */
export type RecordProposals = {
  /** What is left once the SPF and the DMARC record are published. The analysers say it, not the proposals. */
  readonly after: Findings;
  /** Whether any of these two was made. */
  readonly isBetter: boolean;
  readonly find: (advice: Advice, issue: Issue) => Promise<ProposedRecord | undefined>;
};

/** A record is proposed only if the analysers find less wrong with it than with what is published. */
export const proposeRecords = async (dns: Dns, input: Input): Promise<RecordProposals> => {
  const { domain, sendingIp, mx, spf, dmarc, findings } = input;
  const [spfRecord, dmarcRecord] = await Promise.all([
    spf.score === null ? undefined : proposeSpf(dns, input),
    dmarc.score === null ? undefined : proposeDmarc(dns, input),
  ]);
  const [spfAfter, dmarcAfter] = await Promise.all([
    spfRecord && analyseSpf(overlayTexts(dns, [removeGaps(spfRecord)]), { domain, sendingIp }),
    dmarcRecord && analyseDmarc(overlayTexts(dns, [dmarcRecord]), { domain }),
  ]);
  // Nothing is promised for a record that its owner still has to complete.
  const isSpfOpen = spfRecord !== undefined && hasGap(spfRecord);
  const isSpfBetter = !isSpfOpen && spfAfter !== undefined && isLess(spfAfter, spf);
  const isDmarcBetter = dmarcAfter !== undefined && isLess(dmarcAfter, dmarc);
  const crossed = crossCheck(mx, isSpfBetter ? spfAfter : spf, isDmarcBetter ? dmarcAfter : dmarc);
  const after: Findings = {
    ...findings,
    dns: toFindings(crossed.mx),
    spf: toFindings(crossed.spf),
    dmarc: toFindings(isDmarcBetter ? dmarcAfter : dmarc),
  };
  const spfAlone = {
    ...findings,
    spf: toFindings(crossCheck(mx, isSpfBetter ? spfAfter : spf, dmarc).spf),
  };
  const dmarcAlone = {
    ...after,
    // A softfail that DMARC makes harmless is resolved by the DMARC record.
    spf: toFindings(crossCheck(mx, spf, isDmarcBetter ? dmarcAfter : dmarc).spf),
  };
  const score = scoreFindings(findings)?.score ?? 0;
  const withPoints = (record: ProposedRecord | undefined, published: Findings) =>
    record && { ...record, points: Math.max(0, (scoreFindings(published)?.score ?? 0) - score) };
  const find: RecordProposals["find"] = async (advice, issue) => {
    const before = sumCosts(advice, [findings.spf, findings.dmarc]);
    if (before > 0) {
      if (isSpfOpen && sumCosts(advice, [spfAfter?.issues ?? [], findings.dmarc]) < before)
        return spfRecord;
      if (sumCosts(advice, [spfAlone.spf, findings.dmarc]) < before)
        return withPoints(spfRecord, spfAlone);
      if (sumCosts(advice, [after.spf, after.dmarc]) < before)
        return withPoints(dmarcRecord, dmarcAlone);
    }
    const about = { domain, mx, selectors: input.dkim.selectorsFound, now: input.now };
    return proposeOther(dns, about, { advice: advice.id, issue });
  };
  return { after, isBetter: isSpfBetter || isDmarcBetter, find };
};

type Scored = Pick<SpfAnalysis, "score" | "issues">;

/** By costs and not by score, which ends at 0 however much is wrong. */
const isLess = (after: Scored, before: Scored): boolean =>
  after.score !== null && sumAll(after.issues) < sumAll(before.issues);

const sumAll = (issues: readonly Issue[]): number =>
  issues.reduce((sum, { costPoints }) => sum + costPoints, 0);

const sumCosts = (advice: Advice, parts: readonly (readonly Issue[] | null)[]): number =>
  sumAll(parts.flatMap((issues) => issues ?? []).filter(({ id }) => advice.for.includes(id)));
