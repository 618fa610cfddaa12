import { type Dns, getRecords, isFault } from "../dns/dns.ts";
import type { Issue } from "../issue.ts";
import { joinNames } from "../issue-rules.ts";
import { findMeant, parseTagList } from "../tag-list.ts";
import {
  type FetchDocument,
  type FetchedDocument,
  NAME_NOT_FOUND,
  toWords,
} from "./fetched-document.ts";
import { createHint } from "./rules.ts";

type MtaStsPolicy =
  | { readonly kind: "policy"; readonly mode: string; readonly mx: readonly string[] }
  | { readonly kind: "faulty"; readonly fault: string }
  | { readonly kind: "unchecked"; readonly why: string };

/** RFC 8461 §3.2: about a year. */
const AGE_SECONDS_MAX = 31_557_600;
const MODES = new Set(["enforce", "testing", "none"]);

const createFaultyPolicy = (fault: string): MtaStsPolicy => ({ kind: "faulty", fault });

/** RFC 8461 §3.2: the first of a repeated field counts; only mx may occur several times. */
export const parsePolicy = (body: string): MtaStsPolicy => {
  const fields = body.split(/\r?\n/).map((line) => {
    const colon = line.indexOf(":");
    return { name: line.slice(0, Math.max(0, colon)).trim(), value: line.slice(colon + 1).trim() };
  });
  const valueOf = (name: string) => fields.find((field) => field.name === name)?.value ?? "";
  const mode = valueOf("mode");
  const age = valueOf("max_age");
  const mx = fields.filter(({ name }) => name === "mx").map(({ value }) => value.toLowerCase());
  if (valueOf("version") !== "STSv1") return createFaultyPolicy("its policy has no version: STSv1");
  if (!MODES.has(mode)) return createFaultyPolicy("its policy has no valid mode");
  if (!/^\d{1,10}$/.test(age) || Number(age) > AGE_SECONDS_MAX)
    return createFaultyPolicy("its policy has no valid max_age");
  if (mode !== "none" && mx.length === 0) return createFaultyPolicy("its policy names no mx");
  const invalid = mx.find((pattern) => !isPattern(pattern));
  return invalid === undefined
    ? { kind: "policy", mode, mx }
    : createFaultyPolicy(`mx: ${invalid} in its policy is neither a host name nor one below *.`);
};

/** RFC 8461 §3.2: a host name in A-labels, in which only the leftmost label may be the wildcard. */
const isPattern = (pattern: string): boolean =>
  pattern.length <= NAME_MAX && pattern.replace(/^\*\./, "").split(".").every(isLabel);

const NAME_MAX = 253;
const isLabel = (label: string): boolean => /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/.test(label);

/** RFC 8461 §4.1: a wildcard matches exactly the leftmost label. */
export const coversHost = (pattern: string, host: string): boolean =>
  pattern.startsWith("*.")
    ? host.includes(".") && host.slice(host.indexOf(".")) === pattern.slice(1)
    : host === pattern;

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
