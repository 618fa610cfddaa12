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

export type RecordProposals = {
  /** The issues that remain after publishing the SPF and the DMARC record, according to the analysers and not to the proposals. */
  readonly after: Findings;
  readonly isBetter: boolean;
  readonly find: (advice: Advice, issue: Issue) => Promise<ProposedRecord | undefined>;
};

/** Proposes a record only if the analysers find less wrong with it than with the published record. */
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
  // An incomplete record, which its owner must complete, promises no points.
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
    // The DMARC record resolves a softfail that it makes harmless.
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

/** Compares costs and not scores, because a score stops at 0 however many issues exist. */
const isLess = (after: Scored, before: Scored): boolean =>
  after.score !== null && sumAll(after.issues) < sumAll(before.issues);

const sumAll = (issues: readonly Issue[]): number =>
  issues.reduce((sum, { costPoints }) => sum + costPoints, 0);

const sumCosts = (advice: Advice, parts: readonly (readonly Issue[] | null)[]): number =>
  sumAll(parts.flatMap((issues) => issues ?? []).filter(({ id }) => advice.for.includes(id)));
