import type { DkimAnalysis } from "../dkim/analyse.ts";
import { analyseDmarc } from "../dmarc/analyse.ts";
import type { Dns } from "../dns/dns.ts";
import type { Cidr } from "../ip.ts";
import { analyseMx } from "../mx/analyse.ts";
import { proposeDmarc } from "../records/dmarc-record.ts";
import { type ProposedRecord, propose } from "../records/dns-record.ts";
import { proposeOther } from "../records/other-records.ts";
import { proposeSpf } from "../records/spf-record.ts";
import { analyseSpf } from "../spf/analyse.ts";
import type { DkimResult } from "./dkim/verify.ts";
import type { MessageDmarc } from "./dmarc.ts";
import type { MessageFinding } from "./findings.ts";
import type { MessageSpf } from "./spf.ts";

type ProposalInput = {
  readonly ip: string;
  readonly now: Date;
  readonly allowed: readonly Cidr[];
  readonly spf: MessageSpf | null;
  readonly dkim: readonly DkimResult[];
  readonly dmarc: MessageDmarc;
  readonly reportsMailbox?: string | undefined;
};

const SPF_FINDINGS = ["SPF_NONE", "SPF_FAIL", "SPF_SOFTFAIL", "SPF_NEUTRAL", "SPF_PERMERROR"];
const DMARC_FINDINGS = ["DMARC_MISSING", "DMARC_NONE"];
const KEY_FINDINGS = ["DKIM_KEY_MISSING", "DKIM_KEY_REVOKED", "DKIM_KEY_BAD"];
const ADVICE_OF: Readonly<Record<string, string>> = {
  DKIM_NONE: "add_dkim",
  DKIM_KEY_SHORT: "dkim_short",
  DKIM_1024: "dkim_rotate_2048",
  DKIM_TESTING: "dkim_testing",
  PTR_MISSING: "ptr_missing",
  PTR_MISMATCH: "ptr_mismatch",
  PTR_GENERIC: "ptr_generic",
};

/** Proposes a record for each finding. Only for the author's own domains: the owners of other domains publish theirs. */
export const proposeForMessage = async (
  dns: Dns,
  findings: readonly MessageFinding[],
  input: ProposalInput,
): Promise<ReadonlyMap<MessageFinding, ProposedRecord>> => {
  const { spf, dmarc } = input;
  const { domain, organisation } = dmarc;
  if (domain === null || organisation === null) return new Map();
  const isOwn = (name: string) => name === organisation || name.endsWith(`.${organisation}`);
  const spfRecord = once(() =>
    spf && isOwn(spf.domain)
      ? proposeSpfRecord(dns, spf.domain, input)
      : Promise.resolve(undefined),
  );
  const dmarcRecord = once(() => proposeDmarcRecord(dns, domain, input));
  const find = async (finding: MessageFinding): Promise<ProposedRecord | undefined> => {
    const { id, detail } = finding;
    if (SPF_FINDINGS.includes(id)) return spfRecord();
    if (DMARC_FINDINGS.includes(id)) return dmarcRecord();
    const signer = String(detail["domain"] ?? domain);
    if (KEY_FINDINGS.includes(id) && isOwn(signer))
      return proposeKey(signer, String(detail["selector"]), input.dkim);
    const advice = ADVICE_OF[id];
    if (advice === undefined || (id.startsWith("DKIM") && !isOwn(signer))) return undefined;
    const mx = await analyseMx(dns, { domain: signer, allowed: input.allowed });
    const selectors = input.dkim.flatMap(({ selector }) => selector ?? []);
    return proposeOther(
      dns,
      { domain: id.startsWith("PTR") ? organisation : signer, mx, selectors, now: input.now },
      { advice, issue: finding },
    );
  };
  const proposals = new Map<MessageFinding, ProposedRecord>();
  for (const finding of findings) {
    const proposal = await find(finding);
    if (proposal) proposals.set(finding, proposal);
  }
  return proposals;
};

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
};

const proposeSpfRecord = async (
  dns: Dns,
  domain: string,
  { ip, allowed }: ProposalInput,
): Promise<ProposedRecord | undefined> => {
  const [mx, spf] = await Promise.all([
    analyseMx(dns, { domain, allowed }),
    analyseSpf(dns, { domain, sendingIp: ip }),
  ]);
  return spf.score === null ? undefined : proposeSpf(dns, { domain, sendingIp: ip, mx, spf });
};

const proposeDmarcRecord = async (
  dns: Dns,
  domain: string,
  { ip, allowed, dkim, dmarc: { recordDomain }, reportsMailbox }: ProposalInput,
): Promise<ProposedRecord | undefined> => {
  const at = recordDomain ?? domain;
  const [mx, spf, dmarc] = await Promise.all([
    analyseMx(dns, { domain: at, allowed }),
    analyseSpf(dns, { domain: at, sendingIp: ip }),
    analyseDmarc(dns, { domain: at }),
  ]);
  return dmarc.score === null
    ? undefined
    : proposeDmarc(dns, { domain: at, mx, spf, dkim: toAnalysis(dkim), dmarc, reportsMailbox });
};

const toAnalysis = (signatures: readonly DkimResult[]): DkimAnalysis => {
  const valid = signatures.filter(({ result }) => result === "pass");
  return {
    status: valid.length > 0 ? "pass" : "missing",
    selectorsFound: valid.flatMap(({ selector }) => selector ?? []),
    score: valid.length > 0 ? 100 : 0,
    issues: [],
  };
};

/** The signature names the place of the key. Only the signing server has the key itself. */
const proposeKey = (
  domain: string,
  selector: string,
  signatures: readonly DkimResult[],
): ProposedRecord => {
  const algorithm = signatures.find((one) => one.selector === selector)?.algorithm;
  const kind = algorithm === "ed25519-sha256" ? "ed25519" : "rsa";
  return propose(
    {
      name: `${selector}._domainkey.${domain}`,
      type: "TXT",
      value: `v=DKIM1; k=${kind}; p=<public key>`,
    },
    { note: "Your mail server or mail service shows the public key of this selector." },
  );
};
