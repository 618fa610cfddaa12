import type { Dns, DnsRecordType } from "@mailproof/mail/dns/dns";

const CODE_OF = {
  nodata: "ENODATA",
  nxdomain: "ENOTFOUND",
  servfail: "ESERVFAIL",
  refused: "EREFUSED",
  timeout: "ETIMEOUT",
  too_large: "EBADRESP",
  internal: "ESERVFAIL",
} as const;

/** Our DNS port as dns.promises.resolve is shaped, which mailauth asks. */
export const createResolver =
  (dns: Dns) =>
  async (name: string, type: string): Promise<unknown> => {
    const outcome = await dns(type as DnsRecordType, name);
    if (outcome.kind !== "ok")
      throw Object.assign(new Error(outcome.kind), { code: CODE_OF[outcome.kind] });
    return type === "TXT" ? outcome.records.map((text) => [text]) : outcome.records;
  };
