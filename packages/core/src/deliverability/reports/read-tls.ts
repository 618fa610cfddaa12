import {
  type ReadContext,
  type ReadTime,
  readCount,
  readDomain,
  readName,
  readRange,
  toTime,
  UNNAMED_REPORTER,
} from "./read-fields.ts";
import { TLS_POLICY_TYPES, type TlsPolicySums, type TlsReport } from "./report.ts";
import { ReportFault } from "./report-fault.ts";

const DEPTH_MAX = 20;
const VALUES_MAX = 500_000;
const POLICIES_MAX = 1_000;
const FAILURES_MAX = 10_000;
const FAILURE_TYPES_MAX = 50;

/** Reads a TLS report (RFC 8460 §4.4) without its contacts and servers' addresses. */
export const readTlsReport = (text: string, reading: ReadContext): TlsReport => {
  const report = readObject("report", parse(text));
  const range = readObject("date-range", report["date-range"]);
  const readEnd = (name: string): ReadTime => readDate(`date-range.${name}`, range[name]);
  const readWord = (name: string): string | undefined =>
    readName(reading, name, readText(report[name]));
  const policies = readList("policies", report["policies"], POLICIES_MAX).map((policy, at) =>
    readPolicy(policy, `policies[${at}]`),
  );
  if (policies.length === 0) throw new ReportFault("policies", "is empty");
  return {
    type: "tls",
    reporter: readWord("organization-name") ?? UNNAMED_REPORTER,
    reportId: readWord("report-id") ?? reading.createId(),
    domain: findRecipientDomain(policies),
    ...readRange(reading, "date-range", {
      begin: readEnd("start-datetime"),
      end: readEnd("end-datetime"),
    }),
    rows: policies.length,
    policies: policies.map(({ sums }) => sums),
  };
};

const parse = (text: string): unknown => {
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  assertCheap(json);
  try {
    return JSON.parse(json);
  } catch {
    throw new ReportFault("file", "is not valid JSON");
  }
};

/** Counts nesting and values outside strings before the parse, because deep nesting and millions of values take seconds to parse. */
const assertCheap = (text: string): void => {
  let [depth, values, isInString] = [0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) depth++;
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--;
    else if (code === COMMA) values++;
    if (depth > DEPTH_MAX)
      throw new ReportFault("file", `is nested more than ${DEPTH_MAX} levels deep`);
    if (values > VALUES_MAX) throw new ReportFault("file", `has more than ${VALUES_MAX} values`);
  }
};

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

type JsonObject = Readonly<Record<string, unknown>>;

const readObject = (path: string, value: unknown): JsonObject => {
  if (value === undefined) throw new ReportFault(path, "is missing");
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as JsonObject;
  throw new ReportFault(path, "must be a JSON object");
};

const readList = (path: string, value: unknown, most: number): readonly unknown[] => {
  if (value === undefined) throw new ReportFault(path, "is missing");
  if (!Array.isArray(value)) throw new ReportFault(path, "must be a list");
  if (value.length > most) throw new ReportFault(path, `has more than ${most} entries`);
  return value;
};

const readText = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

const readDate = (path: string, value: unknown): ReadTime => {
  const text = readText(value);
  if (text === undefined) return { path, what: "is missing" };
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/i.test(text))
    return { path, what: "must be a time such as 2026-11-21T00:00:00Z" };
  return toTime(path, Date.parse(text));
};

const readNumber = (path: string, value: unknown): number =>
  readCount(
    path,
    typeof value === "number" && Number.isSafeInteger(value)
      ? String(value)
      : (readText(value) ?? (value === undefined ? undefined : "none")),
  );

type ReadPolicy = { readonly domain: string | null; readonly sums: TlsPolicySums };

/**
 * Finds the recipient's domain, which the report is about. Some reporters put a mail host into a DANE policy, whose records are
 * at that host, and no domain into a policy that was not found.
 */
const findRecipientDomain = (policies: readonly ReadPolicy[]): string => {
  const named = policies.flatMap(({ domain, sums }, at) =>
    domain === null ? [] : [{ domain, at, mayBeHost: sums.policy === "tlsa" }],
  );
  const sure = named.filter(({ mayBeHost }) => !mayBeHost);
  const [first, ...others] = sure.length > 0 ? sure : named;
  if (!first) throw new ReportFault("policies[0].policy.policy-domain", "is missing");
  const stray = others.find(({ domain }) => domain !== first.domain);
  if (!stray) return first.domain;
  throw new ReportFault(
    `policies[${stray.at}].policy.policy-domain`,
    `must be ${first.domain}, the domain of the policies before it`,
  );
};

const readPolicy = (value: unknown, path: string): ReadPolicy => {
  const entry = readObject(path, value);
  const policy = readObject(`${path}.policy`, entry["policy"]);
  const type = readText(policy["policy-type"]);
  const policyType = TLS_POLICY_TYPES.find((one) => one === type?.toLowerCase());
  if (policyType === undefined)
    throw new ReportFault(
      `${path}.policy.policy-type`,
      `must be one of ${TLS_POLICY_TYPES.join(", ")}`,
    );
  const summary = readObject(`${path}.summary`, entry["summary"]);
  const count = (name: string): number => readNumber(`${path}.summary.${name}`, summary[name]);
  const domain = policy["policy-domain"] ?? undefined;
  const isLeftOut = domain === undefined && policyType === "no-policy-found";
  return {
    domain: isLeftOut ? null : readDomain(`${path}.policy.policy-domain`, readText(domain)),
    sums: {
      policy: policyType,
      succeeded: count("total-successful-session-count"),
      failed: count("total-failure-session-count"),
      failures: readFailures(entry["failure-details"], `${path}.failure-details`),
    },
  };
};

const readFailures = (value: unknown, path: string): TlsPolicySums["failures"] => {
  if (value === undefined || value === null) return {};
  const failures = new Map<string, number>();
  for (const [at, one] of readList(path, value, FAILURES_MAX).entries()) {
    const failure = readObject(`${path}[${at}]`, one);
    const type = toFailureType(readText(failure["result-type"]));
    const sessions = readNumber(
      `${path}[${at}].failed-session-count`,
      failure["failed-session-count"],
    );
    if (failures.has(type) || failures.size < FAILURE_TYPES_MAX)
      failures.set(type, (failures.get(type) ?? 0) + sessions);
  }
  return Object.fromEntries(failures);
};

/** RFC 8460 §4.3 defines eleven types and allows more. */
const toFailureType = (text = ""): string => {
  const type = text.toLowerCase();
  return /^[a-z\d-]{1,60}$/.test(type) ? type : "other";
};
