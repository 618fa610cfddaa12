import type { Dns } from "../dns/dns.ts";
import { getRecords, isFault } from "../dns/outcome.ts";
import type { Issue } from "../issue.ts";
import { parseTagList } from "../tag-list.ts";
import { createHint } from "./rules.ts";

/** What an HTTPS GET came to. It follows no redirect (RFC 8461 §3.3) and reaches no private address. */
export type FetchedPolicy =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly contentType: string;
      readonly body: string;
    }
  | { readonly kind: "failed"; readonly why: string };

export type FetchPolicy = (url: string) => Promise<FetchedPolicy>;

type MtaStsInput = {
  readonly domain: string;
  /** Those that a policy has to name; none where they are not known. */
  readonly mxHosts: readonly string[];
  /** Without it only the record in DNS is looked at. */
  readonly fetchPolicy?: FetchPolicy | undefined;
};

/** Whether the policy requires encryption from senders (RFC 8461). */
export const findMtaStsHints = async (
  dns: Dns,
  { domain, mxHosts, fetchPolicy }: MtaStsInput,
): Promise<readonly Issue[]> => {
  const outcome = await dns("TXT", `_mta-sts.${domain}`);
  if (isFault(outcome)) return [];
  // §3.1: texts that begin otherwise are not counted, and more than one is as good as none.
  const records = getRecords(outcome).filter((text) => VERSION.test(text));
  const [record, ...others] = records;
  if (record === undefined) return [createHint("MTA_STS_MISSING", { domain })];
  const bad = (fault: string) => [createHint("MTA_STS_BAD", { domain, fault })];
  if (others.length > 0) return bad("there is more than one record at _mta-sts");
  if (!hasId(record)) return bad("its record has no id= of 1 to 32 letters and digits");
  if (!fetchPolicy) return [];

  const policy = readPolicy(await fetchPolicy(toPolicyUrl(domain)));
  if ("fault" in policy) return bad(policy.fault);
  const uncovered = mxHosts.find((host) => !policy.mx.some((pattern) => coversHost(pattern, host)));
  if (policy.mode !== "none" && uncovered !== undefined)
    return bad(`it does not name ${uncovered}`);
  const { mode } = policy;
  return mode === "enforce" ? [] : [createHint("MTA_STS_NOT_ENFORCED", { domain, mode })];
};

const VERSION = /^v=STSv1[\t ]*;/;

const hasId = (record: string): boolean => {
  const ids = parseTagList(record).tags.filter(({ name }) => name === "id");
  return ids.length === 1 && /^[a-z\d]{1,32}$/i.test(ids[0]?.value ?? "");
};

const toPolicyUrl = (domain: string): string => `https://mta-sts.${domain}/.well-known/mta-sts.txt`;

type MtaStsPolicy = { readonly mode: string; readonly mx: readonly string[] };

/** §3.2: about a year. */
const AGE_SECONDS_MAX = 31_557_600;
const MODES = new Set(["enforce", "testing", "none"]);

const readPolicy = (fetched: FetchedPolicy): MtaStsPolicy | { readonly fault: string } => {
  if (fetched.kind === "failed")
    return { fault: `its policy could not be fetched (${fetched.why})` };
  const { status, contentType, body } = fetched;
  if (status !== 200) return { fault: `its policy came with status ${status}` };
  if (!/^text\/plain\s*(?:;|$)/i.test(contentType))
    return { fault: "its policy is not text/plain" };

  const fields = body.split(/\r?\n/).map((line) => {
    const colon = line.indexOf(":");
    return { name: line.slice(0, Math.max(0, colon)).trim(), value: line.slice(colon + 1).trim() };
  });
  const valueOf = (name: string) => fields.find((field) => field.name === name)?.value ?? "";
  const mode = valueOf("mode");
  const age = valueOf("max_age");
  const mx = fields.filter(({ name }) => name === "mx").map(({ value }) => value.toLowerCase());
  if (valueOf("version") !== "STSv1") return { fault: "its policy has no version: STSv1" };
  if (!MODES.has(mode)) return { fault: "its policy has no valid mode" };
  if (!/^\d{1,10}$/.test(age) || Number(age) > AGE_SECONDS_MAX)
    return { fault: "its policy has no valid max_age" };
  return mode !== "none" && mx.length === 0 ? { fault: "its policy names no mx" } : { mode, mx };
};

/** §4.1: a wildcard stands for the leftmost label and for no more. */
const coversHost = (pattern: string, host: string): boolean =>
  pattern.startsWith("*.") ? host.slice(host.indexOf(".")) === pattern.slice(1) : host === pattern;
