import type {
  Dns,
  DnsOutcome,
  DnsRecords,
  DnsRecordType,
  MxRecordData,
} from "@mailproof/mail/dns/dns";

/** DENIED: NXDOMAIN, although names below it are answered. */
export type DnsTrouble = "SERVFAIL" | "REFUSED" | "TIMEOUT" | "DENIED";

/** Records as in a zone file: MX is "10 mx.example.com", and a null MX is "0 .". */
export type Records = { readonly [type in DnsRecordType]?: DnsTrouble | readonly string[] };

/** What there is. A name may be in trouble as a whole, or for one type. */
export type Zone = Readonly<Record<string, DnsTrouble | Records>>;

/** An answer as a name server has it: the aliases that were followed, then records of the type, or none. */
export type Answer = {
  readonly code: "NOERROR" | "NXDOMAIN" | Exclude<DnsTrouble, "DENIED">;
  readonly aliases: readonly { readonly from: string; readonly to: string }[];
  readonly owner: string;
  readonly records: readonly string[];
};

const HOPS_MAX = 8;

const createAuthority = (zoneOf: Zone): ((type: DnsRecordType, name: string) => Answer) => {
  const names = new Map(Object.entries(zoneOf).map(([name, at]) => [name.toLowerCase(), at]));
  // A name without records still exists when there is one below it (RFC 8020).
  const inner = new Set([...names.keys()].flatMap(listParents));

  return (type, name) => {
    const aliases: { from: string; to: string }[] = [];
    let owner = name;
    const answer = (code: Answer["code"], records: readonly string[] = []): Answer => ({
      code,
      aliases,
      owner,
      records,
    });

    for (let hop = 0; hop < HOPS_MAX; hop++) {
      const key = owner.toLowerCase();
      const here = names.get(key);
      if (!here) return answer(inner.has(key) ? "NOERROR" : "NXDOMAIN");
      if (typeof here === "string") return answer(toCode(here));
      const records = here[type];
      if (typeof records === "string") return answer(toCode(records));
      if (records) return answer("NOERROR", records);

      const [to] = typeof here.CNAME === "object" ? here.CNAME : [];
      if (to === undefined) return answer("NOERROR");
      aliases.push({ from: owner, to });
      owner = to;
    }
    return answer("SERVFAIL");
  };
};

const toCode = (trouble: DnsTrouble): Answer["code"] =>
  trouble === "DENIED" ? "NXDOMAIN" : trouble;

const listParents = (name: string): readonly string[] =>
  name.split(".").map((_, n, labels) => labels.slice(n + 1).join("."));

export const parseMx = (text: string): MxRecordData => {
  const [priority, exchange = ""] = text.split(" ");
  return { priority: Number(priority), exchange: exchange === "." ? "" : exchange };
};

const toOutcome = (
  { code, records }: Answer,
  type: DnsRecordType,
): DnsOutcome<string | MxRecordData> => {
  if (code === "NXDOMAIN") return { kind: "nxdomain" };
  if (code === "SERVFAIL") return { kind: "servfail" };
  if (code === "REFUSED") return { kind: "refused" };
  if (code === "TIMEOUT") return { kind: "timeout" };
  if (records.length === 0) return { kind: "nodata" };
  return { kind: "ok", records: type === "MX" ? records.map(parseMx) : records };
};

/**
 * A zone as the DNS port. `calls` are the questions so far: "MX example.com". The answers of signed names were
 * validated, as by a resolver that validates DNSSEC.
 */
export const createZoneDns = (
  names: Zone,
  signed: readonly string[] = [],
): Dns & { readonly calls: readonly string[] } => {
  const calls: string[] = [];
  const authority = createAuthority(names);
  const dns = async <T extends DnsRecordType>(type: T, name: string) => {
    calls.push(`${type} ${name}`);
    const outcome = toOutcome(authority(type, name), type) as DnsOutcome<DnsRecords[T]>;
    return outcome.kind === "ok" && signed.includes(name)
      ? { ...outcome, isAuthentic: true as const }
      : outcome;
  };
  return Object.assign(dns, { calls });
};
