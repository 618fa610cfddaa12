import type { Dns, DnsOutcome, DnsRecords, DnsRecordType } from "../dns/dns.ts";
import type { SpfStop } from "./verdict.ts";

export type SpfLimits = {
  /** Terms that query the DNS: include, a, mx, ptr, exists, redirect. */
  readonly termsMax: number;
  readonly voidsMax: number;
  /** Names of one mx or ptr. More names of an mx are a permerror; more names of a ptr are ignored. */
  readonly namesMax: number;
  /** Replaces the RFC's time limit: ten mx terms of ten names each, and the other queries. */
  readonly questionsMax: number;
};

/** The limits of RFC 7208 §4.6.4. */
export const SPF_LIMITS: SpfLimits = {
  termsMax: 10,
  voidsMax: 2,
  namesMax: 10,
  questionsMax: 130,
};

export type LimitedDns = {
  /** The caller must call this function before each term that queries the DNS, and only then. */
  readonly countTerm: () => SpfStop | undefined;
  /** Returns the records of a query, or the effect of a failed query on the whole check. */
  readonly query: <T extends DnsRecordType>(
    type: T,
    name: string,
  ) => Promise<readonly DnsRecords[T][] | SpfStop>;
  /** Queries without counting a void look-up: for names that the domain's owner does not choose, and after the result. */
  readonly queryUnlimited: Dns;
  /** Counts the result of an unlimited query. */
  readonly judge: <R>(outcome: DnsOutcome<R>) => readonly R[] | SpfStop;
  readonly counted: () => { readonly lookups: number; readonly voidLookups: number };
};

/**
 * A resolver with the budget of one check. The evaluator counts nothing, and only this file turns a response into an error: an empty
 * response is not a record, a failed query is a temperror (RFC 7208 §5).
 */
export const createLimitedDns = (dns: Dns, limits: SpfLimits): LimitedDns => {
  let terms = 0;
  let voids = 0;
  let questions = 0;

  const askFreely: Dns = async (type, name) => {
    questions += 1;
    return questions > limits.questionsMax ? { kind: "timeout" } : dns(type, name);
  };
  const judge: LimitedDns["judge"] = (outcome) => {
    if (outcome.kind === "ok" && outcome.records.length > 0) return outcome.records;
    if (outcome.kind !== "ok" && outcome.kind !== "nodata" && outcome.kind !== "nxdomain")
      return { result: "temperror", reason: outcome.kind };
    voids += 1;
    return voids > limits.voidsMax ? { result: "permerror", reason: "too_many_void_lookups" } : [];
  };
  return {
    queryUnlimited: askFreely,
    judge,
    query: async (type, name) => judge(await askFreely(type, name)),
    countTerm: () => {
      terms += 1;
      return terms > limits.termsMax
        ? { result: "permerror", reason: "too_many_lookups" }
        : undefined;
    },
    counted: () => ({ lookups: terms, voidLookups: voids }),
  };
};

/** Sends each query once, so a loop of includes, or a record that is used ten times, costs one query. */
export const cacheQuestions = (dns: Dns): Dns => {
  const answers = new Map<string, Promise<unknown>>();
  return <T extends DnsRecordType>(type: T, name: string) => {
    const key = `${type} ${name.toLowerCase()}`;
    const outcome = answers.get(key) ?? dns(type, name);
    answers.set(key, outcome);
    return outcome as Promise<DnsOutcome<DnsRecords[T]>>;
  };
};
