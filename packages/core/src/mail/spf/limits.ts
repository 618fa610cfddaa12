import type { Dns, DnsOutcome, DnsRecords, DnsRecordType } from "../dns/dns.ts";
import type { SpfStop } from "./verdict.ts";

export type SpfLimits = {
  /** Terms that ask the DNS: include, a, mx, ptr, exists, redirect. */
  readonly termsMax: number;
  /** Answers without a record, NXDOMAIN or NODATA. */
  readonly voidsMax: number;
  /** Names of one mx, beyond which it is a permerror, or of one ptr, beyond which they are ignored. */
  readonly namesMax: number;
  /** Not in the RFC but in place of its time limit: ten mx of ten names each, and what else may be asked. */
  readonly questionsMax: number;
};

/** RFC 7208 §4.6.4. */
export const SPF_LIMITS: SpfLimits = {
  termsMax: 10,
  voidsMax: 2,
  namesMax: 10,
  questionsMax: 130,
};

export type LimitedDns = {
  /** Called before each term that asks the DNS, and for nothing else. */
  readonly countTerm: () => SpfStop | undefined;
  /** What a question came to as records, or what it means for the whole check that there are none. */
  readonly query: <T extends DnsRecordType>(
    type: T,
    name: string,
  ) => Promise<readonly DnsRecords[T][] | SpfStop>;
  /** Past the count of void answers: for names that the domain's owner does not choose, and after the verdict. */
  readonly queryUnlimited: Dns;
  /** An answer that was asked for freely and counts after all. */
  readonly judge: <R>(outcome: DnsOutcome<R>) => readonly R[] | SpfStop;
  readonly counted: () => { readonly lookups: number; readonly voidLookups: number };
};

/**
 * A resolver with the budget of one check. The evaluator above it counts nothing, and here is the only place
 * where an answer becomes an error: an empty one is no record, trouble is a temperror (RFC 7208 §5).
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

/** Asks each question once. A loop of includes then costs one question, and so does a record used ten times. */
export const cacheQuestions = (dns: Dns): Dns => {
  const answers = new Map<string, Promise<unknown>>();
  return <T extends DnsRecordType>(type: T, name: string) => {
    const key = `${type} ${name.toLowerCase()}`;
    const outcome = answers.get(key) ?? dns(type, name);
    answers.set(key, outcome);
    // The type is part of the key, so what is under it has records of that type.
    return outcome as Promise<DnsOutcome<DnsRecords[T]>>;
  };
};
