import type { Dns } from "../dns/dns.ts";
import { getRecords, isFault } from "../dns/outcome.ts";
import type { Issue } from "../issue.ts";
import { joinNames } from "../issue-rules.ts";
import { findMeant, parseTagList } from "../tag-list.ts";
import {
  type FetchDocument,
  type FetchedDocument,
  NAME_NOT_FOUND,
  toWords,
} from "./fetched-document.ts";
import {
  coversHost,
  createFaultyPolicy,
  type MtaStsPolicy,
  parsePolicy,
} from "./mta-sts-policy.ts";
import { createHint } from "./rules.ts";

type MtaStsInput = {
  readonly domain: string;
  /** The hosts that a policy has to name, in lower case; empty when they are unknown. */
  readonly mxHosts: readonly string[];
  readonly fetchDocument?: FetchDocument | undefined;
};

/** Checks whether the domain's policy requires encryption from senders (RFC 8461). */
export const findMtaStsHints = async (
  dns: Dns,
  { domain, mxHosts, fetchDocument }: MtaStsInput,
): Promise<readonly Issue[]> => {
  const outcome = await dns("TXT", `_mta-sts.${domain}`);
  if (isFault(outcome)) return [];
  // RFC 8461 §3.1: senders ignore texts with another start, and treat several records as none.
  const [record, ...others] = findMeant(getRecords(outcome), VERSION, "STSv1");
  if (record === undefined) return [createHint("MTA_STS_MISSING", { domain })];
  const bad = (fault: string) => [createHint("MTA_STS_BAD", { domain, fault })];
  if (others.length > 0) return bad("there is more than one record at _mta-sts");
  const recordFault = findRecordFault(record);
  if (recordFault !== undefined) return bad(recordFault);
  if (!fetchDocument) return [];

  const policy = readPolicy(await fetchDocument(toPolicyUrl(domain)));
  if (policy.kind === "unchecked")
    return [createHint("MTA_STS_UNCHECKED", { domain, why: policy.why })];
  if (policy.kind === "faulty") return bad(policy.fault);
  const uncovered = mxHosts.filter(
    (host) => !policy.mx.some((pattern) => coversHost(pattern, host)),
  );
  if (policy.mode !== "none" && uncovered.length > 0)
    return bad(`it does not name ${joinNames([...new Set(uncovered)])}`);
  const { mode } = policy;
  return mode === "enforce" ? [] : [createHint("MTA_STS_NOT_ENFORCED", { domain, mode })];
};

const VERSION = /^v=STSv1[\t ]*;/;

const findRecordFault = (record: string): string | undefined => {
  if (!VERSION.test(`${record};`)) return "its record does not start with exactly v=STSv1;";
  const ids = parseTagList(record).tags.filter(({ name }) => name === "id");
  if (ids.length > 1) return "its record has id= more than once";
  return /^[a-z\d]{1,32}$/i.test(ids[0]?.value ?? "")
    ? undefined
    : "its record has no id= of 1 to 32 letters and digits";
};

const toPolicyUrl = (domain: string): string => `https://mta-sts.${domain}/.well-known/mta-sts.txt`;

const readPolicy = (fetched: FetchedDocument): MtaStsPolicy => {
  if (fetched.kind === "failed")
    return fetched.why === NAME_NOT_FOUND
      ? createFaultyPolicy("the host of its policy does not exist")
      : { kind: "unchecked", why: toWords(fetched.why) };
  const { status, contentType, body, isComplete } = fetched;
  if (status !== 200) return createFaultyPolicy(`its policy came with status ${status}`);
  if (!/^text\/plain\s*(?:;|$)/i.test(contentType))
    return createFaultyPolicy("its policy is not text/plain");
  return isComplete ? parsePolicy(body) : { kind: "unchecked", why: "incomplete" };
};
