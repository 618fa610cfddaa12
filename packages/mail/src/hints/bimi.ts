import type { DmarcAnalysis } from "../dmarc/analyse.ts";
import { isDmarc, isPartial, parseDmarc } from "../dmarc/record.ts";
import { type Dns, getRecords, isFault } from "../dns/dns.ts";
import type { Issue } from "../issue.ts";
import { joinNames } from "../issue-rules.ts";
import { listRepeated, parseTagList } from "../tag-list.ts";
import {
  type FetchDocument,
  type FetchedDocument,
  NAME_NOT_FOUND,
  toWords,
} from "./fetched-document.ts";
import { createHint } from "./rules.ts";
import { findLogoFaults, LOGO_BYTES_MAX } from "./svg-logo.ts";

// The logo that mailboxes show next to a domain's mail: BIMI (draft-brand-indicators-for-message-identification).

type BimiInput = {
  readonly domain: string;
  readonly dmarc: Pick<
    DmarcAnalysis,
    "status" | "policy" | "record" | "recordDomain" | "organisation"
  >;
  readonly fetchDocument?: FetchDocument | undefined;
};

/** Checks whether mailboxes may show a domain's logo. They first require a policy against forged mail. */
export const findBimiHints = async (
  dns: Dns,
  { domain, dmarc, fetchDocument }: BimiInput,
): Promise<readonly Issue[]> => {
  const placed = await discoverRecords(dns, domain, dmarc.organisation);
  if (!placed) return [];
  const { at, records } = placed;
  const [record, ...others] = records;
  if (record === undefined) return [createHint("BIMI_MISSING", { domain })];
  const bad = (fault: string) => createHint("BIMI_BAD", { domain: at, fault });
  if (others.length > 0) return [bad("there is more than one")];
  const { logo, certificate, fault } = parseBimi(record);
  if (fault !== undefined) return [bad(fault)];
  // An empty l= without a certificate declares that the domain shows no logo, which is valid.
  if (logo === "") return [];

  const [weakness, ofLogo] = await Promise.all([
    findDmarcWeakness(dns, dmarc),
    fetchDocument ? fetchDocument(logo).then((fetched) => createLogoHints(at, fetched)) : [],
  ]);
  return [
    ...(weakness === undefined ? [] : [bad(weakness)]),
    ...ofLogo,
    certificate === ""
      ? createHint("BIMI_NO_CERTIFICATE", { domain: at })
      : createHint("BIMI_CERTIFICATE", { domain: at, url: certificate }),
  ];
};

type PlacedRecords = { readonly at: string; readonly records: readonly string[] };

/** Finds the records of the domain, or else of its organisational domain. Undefined when DNS did not answer. */
const discoverRecords = async (
  dns: Dns,
  domain: string,
  organisation: string,
): Promise<PlacedRecords | undefined> => {
  const outcome = await dns("TXT", `default._bimi.${domain}`);
  if (isFault(outcome)) return undefined;
  const records = getRecords(outcome).filter((text) => VERSION.test(text));
  return records.length > 0 || domain === organisation
    ? { at: domain, records }
    : discoverRecords(dns, organisation, organisation);
};

const VERSION = /^v\s*=\s*BIMI1\s*(?:;|$)/i;

/** Accepts a single URL: a comma within it must be written as %2C. */
const isHttpsUrl = (text: string): boolean =>
  /^https:\/\/[^\s,]+$/i.test(text) && URL.canParse(text);

const parseBimi = (record: string) => {
  const { tags, strays } = parseTagList(record);
  const names = tags.map(({ name }) => name.toLowerCase());
  const valueOf = (name: string) => tags[names.indexOf(name)]?.value;
  const [logo, certificate = ""] = [valueOf("l"), valueOf("a")];
  // The record has the form of RFC 6376 §3.2, where either fault makes the whole list invalid.
  const [repeated] = listRepeated(names);
  const broken =
    (repeated !== undefined && `it has ${repeated}= more than once, which makes it invalid`) ||
    (strays.length > 0 && "a part of it is not name=value, which makes it invalid");
  return {
    logo: logo ?? "",
    certificate,
    fault: broken || findAddressFault(logo, certificate),
  };
};

const findAddressFault = (logo: string | undefined, certificate: string): string | undefined => {
  if (logo === undefined) return "it has no l=";
  if (certificate !== "" && !isHttpsUrl(certificate)) return "a= is not an https address";
  if (logo === "" && certificate !== "") return "l= is empty, and a= alone shows no logo";
  return logo !== "" && !isHttpsUrl(logo) ? "l= is not an https address" : undefined;
};

/**
 * Neither the record that applies to the domain nor that of its organisational domain may be weak. Gmail requires pct=100 under reject too.
 */
const findDmarcWeakness = async (
  dns: Dns,
  { status, policy, record, recordDomain, organisation }: BimiInput["dmarc"],
): Promise<string | undefined> => {
  if (status === "error") return undefined;
  const above =
    recordDomain === organisation
      ? []
      : getRecords(await dns("TXT", `_dmarc.${organisation}`)).filter(isDmarc);
  const [ofOrganisation] = above.length === 1 ? above : [];
  const weaknesses = [
    ...(record !== null && recordDomain !== null ? listWeakTags(record, recordDomain) : []),
    ...(ofOrganisation === undefined ? [] : listWeakTags(ofOrganisation, organisation)),
  ];
  if (weaknesses.length === 0 && policy !== null && policy !== "none") return undefined;
  const found = weaknesses.length > 0 ? joinNames(weaknesses) : explainMissingPolicy(record);
  return `DMARC must be quarantine or reject for all mail and all subdomains (${found})`;
};

/** Explains why no policy applies although no tag is weak. By RFC 9989 a quarantine under test counts as none. */
const explainMissingPolicy = (record: string | null): string => {
  if (record === null) return "there is no policy";
  return parseDmarc(record).isTesting ? "t=y suspends the policy" : "no policy applies here";
};

const listWeakTags = (text: string, at: string): readonly string[] => {
  const { p, sp, tags } = parseDmarc(text);
  const pct = tags.find(({ name }) => name === "pct")?.value;
  const isEnforced = p === "reject" || p === "quarantine";
  return [
    ...(isEnforced ? [] : [`no p=quarantine or p=reject at ${at}`]),
    ...(sp === "none" ? [`sp=none at ${at}`] : []),
    ...(pct !== undefined && isPartial(pct) ? [`pct=${pct} at ${at}`] : []),
  ];
};

/** Statuses that prove the logo missing. Any other status may be meant only for this client. */
const GONE = new Set([404, 410]);
const GZIP_FIRST_BYTE = 0x1f;

const createLogoHints = (domain: string, fetched: FetchedDocument): readonly Issue[] => {
  const bad = (fault: string) => [createHint("BIMI_LOGO_BAD", { domain, fault })];
  const unchecked = (why: string) => [createHint("BIMI_LOGO_UNCHECKED", { domain, why })];
  if (fetched.kind === "failed")
    return fetched.why === NAME_NOT_FOUND
      ? bad("its host does not exist")
      : unchecked(toWords(fetched.why));
  const { status, body, isComplete } = fetched;
  if (status !== 200)
    return GONE.has(status) ? bad(`it came with status ${status}`) : unchecked(`status ${status}`);
  const bytes = Buffer.byteLength(body);
  const tooLarge = bytes > LOGO_BYTES_MAX ? [`it has more than ${LOGO_BYTES_MAX} bytes`] : [];
  if (!isComplete) return tooLarge.length > 0 ? bad(joinNames(tooLarge)) : unchecked("incomplete");
  if (body.charCodeAt(0) === GZIP_FIRST_BYTE || body.startsWith("\ufffd"))
    return unchecked("it is compressed, or no UTF-8");
  const faults = [...tooLarge, ...findLogoFaults(body)];
  return faults.length > 0 ? bad(joinNames(faults)) : [];
};
