import type { DnsRecordType } from "@mailproof/mail/dns/dns";

/** The ways in which a name can fail instead of being answered. DENIED: NXDOMAIN, although names below it are answered. */
export type DnsFailure = "SERVFAIL" | "REFUSED" | "TIMEOUT" | "DENIED";

type Data = {
  readonly A: string;
  readonly AAAA: string;
  readonly MX: readonly [priority: number, exchange: string];
  /** A list contains the character-strings of one record. Each character is a byte (Latin-1). */
  readonly TXT: string | readonly string[];
  readonly PTR: string;
  readonly CNAME: string;
  readonly NS: string;
  /** The record as in a zone file: "3 1 1 " and the data in hexadecimal. */
  readonly TLSA: string;
};

/** The records of one name, by type. A single type may fail, and so may the whole name. */
export type Records = { readonly [T in DnsRecordType]?: readonly Data[T][] | DnsFailure } & {
  /** The server answers as a resolver that validated the name's records with DNSSEC (the AD bit). */
  readonly isSigned?: true;
};

/** Records by owner name, in A-labels, without a final dot; `*.name` matches every missing name below `name`. */
export type Zone = Readonly<Record<string, Records | DnsFailure>>;

/** The zones by apex; "" is the root, which contains every name. */
export type Zones = Readonly<Record<string, Zone>>;

export type ZoneAnswer =
  | {
      readonly kind: "records";
      readonly type: string;
      readonly data: readonly unknown[];
      readonly isSigned: boolean;
    }
  | { readonly kind: "nodata" | "nxdomain"; readonly apex: string }
  | { readonly kind: "fails"; readonly how: DnsFailure };

export type ZoneLookup = (type: string, name: string) => ZoneAnswer;

/** The rules of RFC 1034 §4.3.2 for one name, without following a CNAME. */
export const createZoneLookup = (zones: Zones): ZoneLookup => {
  const apexes = new Map(
    Object.entries(zones).map(([written, zone]) => {
      const apex = written.toLowerCase();
      return [apex, indexZone(apex, zone)];
    }),
  );
  const findApex = (name: string) => [...listWithParents(name), ""].find((one) => apexes.has(one));
  return (type, question) => {
    const name = question.toLowerCase();
    const apex = findApex(name);
    const names = apex === undefined ? undefined : apexes.get(apex);
    // The lookup never returns NXDOMAIN for a domain outside the lab: that would count as proof that the domain does not exist.
    if (apex === undefined || !names) return { kind: "fails", how: "REFUSED" };
    const records = names.get(name) ?? names.get(`*.${findClosest(names, name)}`);
    if (!records) return { kind: "nxdomain", apex };
    return typeof records === "string"
      ? { kind: "fails", how: records }
      : pickRecords(records, type, apex);
  };
};

const pickRecords = (records: Records, type: string, apex: string): ZoneAnswer => {
  const data = records[type as DnsRecordType];
  const isSigned = records.isSigned ?? false;
  if (typeof data === "string") return { kind: "fails", how: data };
  if (data && data.length > 0) return { kind: "records", type, data, isSigned };
  if (records.CNAME && typeof records.CNAME !== "string")
    return { kind: "records", type: "CNAME", data: records.CNAME, isSigned };
  return { kind: "nodata", apex };
};

/** A name above an existing one exists too, without records (RFC 8020): its answer is NODATA, not NXDOMAIN. */
const indexZone = (apex: string, zone: Zone): ReadonlyMap<string, Records | DnsFailure> => {
  const names = new Map<string, Records | DnsFailure>([[apex, {}]]);
  for (const [owner, records] of Object.entries(zone)) names.set(owner.toLowerCase(), records);
  for (const owner of Object.keys(zone)) {
    let parent = getParent(owner.toLowerCase());
    while (parent.length > apex.length && !names.has(parent)) {
      names.set(parent, {});
      parent = getParent(parent);
    }
  }
  return names;
};

const getParent = (name: string): string => {
  const dot = name.indexOf(".");
  return dot < 0 ? "" : name.slice(dot + 1);
};

/** RFC 4592 §3.3.1: a wildcard stands only directly below the longest part of the name that exists. */
const findClosest = (names: ReadonlyMap<string, unknown>, name: string): string =>
  listWithParents(name)
    .slice(1)
    .find((parent) => names.has(parent)) ?? "";

const listWithParents = (name: string): readonly string[] => {
  const labels = name.split(".");
  return labels.map((_, index) => labels.slice(index).join("."));
};
