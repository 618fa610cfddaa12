import {
  discover,
  getAppliedPolicy,
  getPublishedPolicy,
  type PlacedRecord,
} from "../dmarc/discover.ts";
import { type DmarcPolicy, findTag } from "../dmarc/record.ts";
import { type Dns, isFault } from "../dns/dns.ts";
import { isDomain, parseDomain } from "../domain.ts";
import type { DkimResult } from "./dkim/verify.ts";
import type { MessageSpf } from "./spf.ts";

export type MessageDmarc = {
  /** `permerror`: the message has no single author domain, so nobody can evaluate DMARC. */
  readonly result: "pass" | "fail" | "none" | "temperror" | "permerror";
  readonly domain: string | null;
  /** RFC 9989 §3.2: the domain that all aligned names share. */
  readonly organisation: string | null;
  readonly record: string | null;
  readonly recordDomain: string | null;
  /** The policy that the record requests for failing mail, after inheritance and testing. */
  readonly policy: DmarcPolicy | null;
  readonly disposition: DmarcPolicy;
  readonly spf: Alignment;
  readonly dkim: Alignment;
};

export type Alignment = {
  readonly mode: "relaxed" | "strict";
  /** True when the check passed for a name that belongs to the domain of From. Null when unknown. */
  readonly isAligned: boolean | null;
  readonly domain: string | null;
};

/** Each name costs up to eight look-ups. */
const NAMES_MAX = 10;

const NOT_ALIGNED: Alignment = { mode: "relaxed", isAligned: false, domain: null };

const NOTHING = {
  organisation: null,
  record: null,
  recordDomain: null,
  policy: null,
  disposition: "none",
  spf: NOT_ALIGNED,
  dkim: NOT_ALIGNED,
} as const;

type Identifiers = {
  /** Null when there is not exactly one author domain. */
  readonly from: string | null;
  readonly spf: MessageSpf | null;
  readonly dkim: readonly DkimResult[];
};

/** Evaluates DMARC for one message (RFC 9989 §5.3). */
export const checkDmarc = async (
  dns: Dns,
  { from, spf, dkim }: Identifiers,
): Promise<MessageDmarc> => {
  const parsed = from === null ? undefined : parseDomain(from);
  if (!parsed || !isDomain(parsed)) return { ...NOTHING, result: "permerror", domain: from };
  const domain = parsed.ascii;
  const [{ found, organisation, isOpen }, apex, mail] = await Promise.all([
    discover(dns, domain),
    dns("TXT", domain),
    dns("MX", domain),
  ]);
  if (!found) return { ...NOTHING, result: isOpen ? "temperror" : "none", domain, organisation };
  // RFC 9989 §3: a name does not exist when a query of any type gives NXDOMAIN.
  const exists = apex.kind !== "nxdomain" && mail.kind !== "nxdomain";
  const published = getPublishedPolicy(found, domain, exists);
  const base = { ...NOTHING, domain, organisation, ...describe(found) };
  // RFC 9989 §4.10.1: the record requests neither a policy nor a report.
  if (published === null) return { ...base, result: "none" };

  const align = createAligner(dns, { domain, organisation, isOpen });
  const [spfAlignment, dkimAlignment] = await Promise.all([
    align(listDomains(spf ? [spf] : []), getMode(found, "aspf")),
    align(listDomains(dkim), getMode(found, "adkim")),
  ]);
  const policy = getAppliedPolicy(published, found);
  const checked = { ...base, policy, spf: spfAlignment, dkim: dkimAlignment };
  const aligned = [spfAlignment.isAligned, dkimAlignment.isAligned];
  if (aligned.includes(true)) return { ...checked, result: "pass" };
  // A query failed that decides which policy applies.
  const isPolicyOpen =
    isFault(apex) && isFault(mail) && published !== getPublishedPolicy(found, domain, !exists);
  if (aligned.includes(null) || isPolicyOpen) return { ...checked, result: "temperror" };
  return { ...checked, result: "fail", disposition: policy ?? "none" };
};

/** A TXT record may hold 64 kB. */
const RECORD_SHOWN_MAX = 4_096;

const describe = ({ domain, record }: PlacedRecord) => ({
  record: record.text.slice(0, RECORD_SHOWN_MAX),
  recordDomain: domain,
});

type CheckedNames = { readonly passed: readonly string[]; readonly open: readonly string[] };

const listDomains = (
  checks: readonly { readonly result: string; readonly domain: string | null }[],
): CheckedNames => {
  const withResult = (wanted: string) =>
    checks.flatMap(({ result, domain }) => (result === wanted && domain !== null ? [domain] : []));
  return { passed: withResult("pass"), open: withResult("temperror") };
};

const getMode = ({ record }: PlacedRecord, tag: "aspf" | "adkim"): Alignment["mode"] =>
  findTag(record, tag)?.toLowerCase() === "s" ? "strict" : "relaxed";

type Author = {
  readonly domain: string;
  readonly organisation: string;
  readonly isOpen: boolean;
};

/** RFC 9989 §4.4: finds a name that passed and belongs to the author's domain. */
const createAligner =
  (dns: Dns, { domain, organisation, isOpen }: Author) =>
  async ({ passed, open }: CheckedNames, mode: Alignment["mode"]): Promise<Alignment> => {
    const isNear = (name: string) =>
      mode === "strict"
        ? name === domain
        : isOpen || name === organisation || name.endsWith(`.${organisation}`);
    if (passed.includes(domain)) return { mode, isAligned: true, domain };
    const near = [...new Set(passed)].filter(isNear);
    const walks = await Promise.all(
      near.slice(0, NAMES_MAX).map(async (name) => ({ name, walk: await discover(dns, name) })),
    );
    const aligned = walks.find(({ walk }) => !walk.isOpen && walk.organisation === organisation);
    if (aligned && !isOpen) return { mode, isAligned: true, domain: aligned.name };
    // A failed query hides which organisation a name belongs to, or whether it passed.
    const isUnknown =
      near.length > NAMES_MAX ||
      (isOpen && near.length > 0) ||
      walks.some(({ walk }) => walk.isOpen) ||
      open.some(isNear);
    return { mode, isAligned: isUnknown ? null : false, domain: null };
  };
